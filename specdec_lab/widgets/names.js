// Names for what ipywidgets and plotly draw without one, so that a screen reader can say them.
const PLAY = { "fa-play": "play", "fa-pause": "pause", "fa-stop": "back to the start", "fa-retweet": "repeat" };

function give(root, model) {
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", model.get("name"));
  for (const handle of root.querySelectorAll("[role=slider]")) {
    const label = handle.closest(".widget-inline-hbox")?.querySelector(".widget-label");
    if (label) handle.setAttribute("aria-label", label.textContent);
  }
  for (const list of root.querySelectorAll("select")) list.dataset.lmSuppressShortcuts = "true"; // or JupyterLab takes its arrow keys
  for (const icon of root.querySelectorAll(".widget-play button > i")) {
    for (const [look, name] of Object.entries(PLAY)) if (icon.classList.contains(look)) icon.parentElement.setAttribute("aria-label", name);
  }
  root.querySelectorAll(".js-plotly-plot").forEach((plot, i) => {
    const title = plot.querySelector(".gtitle")?.textContent ?? "";
    plot.setAttribute("role", "figure");
    plot.setAttribute("aria-label", `${model.get("pictures")[i] ?? "picture"}. ${title}`);
  });
}

function render({ model, el }) {
  let observer;
  const begin = () => {
    const root = el.closest(".specdec-explorer");
    if (!root) return requestAnimationFrame(begin); // not yet on the page
    observer = new MutationObserver(() => give(root, model));
    observer.observe(root, { childList: true, subtree: true });
    give(root, model);
  };
  begin();
  return () => observer?.disconnect();
}

export default { render };
