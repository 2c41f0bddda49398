"""The command line: python -m tools.notebooks clean|lint|exercises|badges|execute notebooks/*.ipynb

Exit code 0 if all is well, 1 if something was found, 2 if the command could not be carried out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from specdec_lab.errors import UserError
from tools.notebooks import badges as badge_cells
from tools.notebooks import exercises as exercise_cells
from tools.notebooks.clean import clean as clean_file
from tools.notebooks.lint import lint as lint_file

app = typer.Typer(
    help="The life of a notebook.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Paths = Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="Notebooks.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if something would change.")]


def tell(findings: Iterable[object]) -> None:
    """Print each on a line; exit with 1 if there are any."""
    found = list(findings)
    for finding in found:
        typer.echo(finding)
    if found:
        raise typer.Exit(1)


@app.command()
def clean(paths: Paths, check: Check = False) -> None:
    """Remove outputs, counts, widget state and stray metadata; give every cell an id of its own."""
    changed = [path for path in paths if clean_file(path, check)]
    if check:
        tell(f"{path}: it is not clean; run `python -m tools.notebooks clean {path}`." for path in changed)
    for path in changed:
        typer.echo(f"{path}: cleaned")


@app.command()
def lint(paths: Paths) -> None:
    """Hold chapters against the form of the course."""
    tell(finding for path in paths for finding in lint_file(path))


@app.command()
def exercises(
    paths: Paths,
    solve: Annotated[Path | None, typer.Option(help="Instead, write solved copies of the notebooks into this folder.")] = None,
) -> None:
    """Hold the stubs against the package's functions."""
    if solve is None:
        tell(finding for path in paths for finding in exercise_cells.exercises(path))
    else:
        for path in paths:
            typer.echo(exercise_cells.solve(path, solve))


@app.command()
def badges(
    paths: Paths,
    check: Check = False,
    repository: Annotated[str | None, typer.Option(help="Move the course to a fork, such as https://github.com/me/fork.")] = None,
) -> None:
    """Write the cells that open a chapter on Colab and Kaggle, from the repository's branch main, and make it run there."""
    if check and repository:
        raise UserError("--check looks and --repository writes; take one of them.")
    address = badge_cells.move(repository) if repository else badge_cells.repository()
    changed = [path for path in paths if badge_cells.badges(path, address, check)]
    if check:
        tell(f"{path}: its badges are out of date; run `python -m tools.notebooks badges {path}`." for path in changed)
    for path in changed:
        typer.echo(f"{path}: badges written")


@app.command()
def execute(
    paths: Paths,
    cells: Annotated[bool, typer.Option("--cells", help="Show the slowest cells.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write seconds and memory of every cell into this JSON file.")] = None,
    limit_gib: Annotated[float | None, typer.Option(help="Memory that no cell may exceed.")] = None,
    limit_seconds: Annotated[float | None, typer.Option(help="Time that all notebooks together may take.")] = None,
) -> None:
    """Run notebooks top to bottom, each in a fresh kernel; the files are left as they are."""
    from tools.notebooks.execute import Run, too_much
    from tools.notebooks.execute import execute as execute_file

    if report is not None:
        try:
            report.open("a").close()  # rather now than when all has run
        except OSError as error:
            raise UserError(f"{report} cannot be written ({error.strerror}); name a file in a folder that exists.") from error
    runs: list[Run] = []
    for path in paths:
        run = execute_file(path)
        run.findings += too_much(run, limit_gib) if limit_gib is not None else []
        typer.echo(f"{path.stem:28} {len(run.cells):3} cells  {run.seconds:6.1f} s  {run.peak_gib:5.2f} GiB")
        runs.append(run)
        for finding in run.findings:
            typer.echo(finding)
    seconds = sum(run.seconds for run in runs)
    typer.echo(f"{'all together':28} {sum(len(run.cells) for run in runs):3} cells  {seconds:6.1f} s")
    if cells:
        Console().print(slowest([(run.path.stem, cell.id, cell.seconds, cell.peak_gib) for run in runs for cell in run.cells]))
    if report is not None:
        report.write_text(json.dumps({"seconds": round(seconds, 2), "notebooks": [run.report() for run in runs]}, indent=1) + "\n")
    if limit_seconds is not None and seconds > limit_seconds:
        tell([f"all together took {seconds:.1f} s, more than the {limit_seconds:g} s allowed; --cells shows where it goes."])
    if any(run.findings for run in runs):
        raise typer.Exit(1)


def slowest(cells: list[tuple[str, str, float, float]], shown: int = 10) -> Table:
    table = Table("notebook", "cell", "seconds", "GiB", title="The slowest cells")
    for notebook, id_, seconds, gib in sorted(cells, key=lambda cell: -cell[2])[:shown]:
        table.add_row(notebook, id_, f"{seconds:.1f}", f"{gib:.2f}")
    return table


def main() -> None:
    try:
        app(prog_name="python -m tools.notebooks")
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
