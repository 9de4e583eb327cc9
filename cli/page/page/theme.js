// Light or dark: the system's preference, until the user presses the button.

function isDark() { return document.documentElement.dataset.theme === "dark"; }

/** @param onChange is called after each change. */
function followTheme(onChange = () => {}) {
  const preference = matchMedia("(prefers-color-scheme: dark)");
  const set = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").setAttribute("aria-pressed", String(dark));
    onChange();
  };
  set(preference.matches);
  preference.addEventListener("change", () => set(preference.matches));
  byId("theme").addEventListener("click", () => set(!isDark()));
}
