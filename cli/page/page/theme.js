// Light or dark: the system's preference, until the user presses the button. The picture follows.

function isDark() { return document.documentElement.dataset.theme === "dark"; }

/** The picture's button does it, which is hidden in a frame: there is one for both. */
function setThemeOfRun() {
  const {contentDocument} = byId("run");
  const button = contentDocument && contentDocument.getElementById("theme");
  if (!button) return;  // still the empty page
  if ((contentDocument.documentElement.dataset.theme === "dark") !== isDark()) button.click();
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(dark));
  setThemeOfRun();
}

function followTheme() {
  const preference = matchMedia("(prefers-color-scheme: dark)");
  setTheme(preference.matches);
  preference.addEventListener("change", () => setTheme(preference.matches));
  byId("theme").addEventListener("click", () => setTheme(!isDark()));
}
