"""Around nbgrader: repairing what was handed in, running it where it can do no harm, marking it, reporting on a class."""
