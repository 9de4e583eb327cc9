// The picture of the run: the page of `show --html`, in a frame as high as its content.

const LEAST_FRAME = 400, MOST_FRAME = 3200;  // pixels; a higher page scrolls inside

let runShown = 0;
let failureShown = null;

function showRun({run, verdict}) {
  failureShown = verdict && verdict.failure;
  const frame = byId("run");
  byId("no-run").hidden = run > 0;
  byId("no-run").textContent = verdict
    ? "There is no run to draw." : "Save the exercise: its run is drawn here, step by step.";
  frame.hidden = run === 0;
  if (run === 0 || run === runShown) return;
  runShown = run;
  // Replaced, so that Back does not go through the pictures of all saves.
  frame.contentWindow.location.replace(`run?${run}`);
}

/** The picture's button does it, which is hidden in a frame: there is one for both. */
function setThemeOfRun() {
  const {contentDocument} = byId("run");
  const button = contentDocument && contentDocument.getElementById("theme");
  if (!button) return;  // still the empty page
  if ((contentDocument.documentElement.dataset.theme === "dark") !== isDark()) button.click();
}

function followHeight() {
  const frame = byId("run");
  frame.addEventListener("load", () => {
    const {body} = frame.contentDocument;
    if (!body.querySelector("main")) return;  // still the empty page
    const fit = () => {
      const wanted = Math.ceil(body.getBoundingClientRect().height) + 24;
      frame.style.height = `${Math.min(MOST_FRAME, Math.max(LEAST_FRAME, wanted))}px`;
    };
    setThemeOfRun();
    const {rankbox} = frame.contentWindow;
    if (failureShown && rankbox) rankbox.code.markFailure(failureShown);
    new ResizeObserver(fit).observe(body);
    fit();
    document.documentElement.dataset.run = runShown;
  });
}
