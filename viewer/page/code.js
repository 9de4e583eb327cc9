// The program: its lines, with a badge for each rank that stands at one.

class Code {
  constructor(run, theme) {
    Object.assign(this, {run, theme});
    this.sources = run.head.sources || [];
    if (this.sources.length === 0) return;
    document.getElementById("code-section").hidden = false;
    this.title = document.getElementById("code-heading");
    this.list = document.getElementById("code");
    this.marks = [];
    this.open(0);
  }

  open(number) {
    this.number = number;
    const {file, lines} = this.sources[number];
    this.title.textContent = file;
    this.rows = lines.map(text => {
      const badges = element("span", {className: "badges"});
      const row = element("li", {}, badges, element("code", {}, text || " "));
      row.badges = badges;
      return row;
    });
    this.list.replaceChildren(...this.rows);
    this.marks = [];
    this.markWrong();
  }

  markWrong() {
    if (this.failure && this.failure.file === this.sources[this.number].file)
      this.rows[this.failure.line - 1]?.classList.add("wrong");
  }

  /** @param at [rank] the event whose line the rank stands at; -1: none. @param chosen likewise */
  show(at, chosen) {
    if (this.sources.length === 0) return;
    this.at = at;
    const place = chosen >= 0 ? this.run.place(chosen) : null;
    const number = place ? this.sources.findIndex(({file}) => file === place.file) : -1;
    if (number >= 0 && number !== this.number) this.open(number);
    for (const row of this.marks) {
      row.classList.remove("now");
      row.badges.replaceChildren();
    }
    this.marks = [];
    const {file} = this.sources[this.number];
    const ranksAt = new Map();  // line -> ranks
    at.forEach((event, rank) => {
      const stands = event >= 0 ? this.run.place(event) : null;
      if (!stands || stands.file !== file) return;
      if (!ranksAt.has(stands.line)) ranksAt.set(stands.line, []);
      ranksAt.get(stands.line).push(rank);
    });
    for (const [line, ranks] of ranksAt) this.badge(this.rows[line - 1], ranks);
    const row = place && place.file === file ? this.rows[place.line - 1] : null;
    if (row) {
      row.classList.add("now");
      this.marks.push(row);
    }
    this.reveal(row || this.marks[0]);
  }

  /** Marks the line of a verdict's failure, and scrolls to it. */
  markFailure(failure) {
    const number = this.sources.findIndex(({file}) => file === failure.file);
    if (number < 0) return;
    this.failure = failure;
    if (number === this.number) {
      this.markWrong();
    } else {
      this.open(number);
      this.show(this.at, -1);
    }
    this.reveal(this.rows[failure.line - 1]);
  }

  badge(row, ranks) {
    if (!row) return;
    this.marks.push(row);
    const shown = ranks.length > 4 ? ranks.slice(0, 3) : ranks;
    for (const rank of shown) {
      const badge = element("span", {className: "badge", title: `rank ${rank} is here`}, `${rank}`);
      badge.style.background = this.theme.rankColour(rank, this.run.ranks);
      row.badges.append(badge);
    }
    const rest = ranks.length - shown.length;
    if (rest > 0) row.badges.append(element("span", {className: "badge more"}, `+${rest}`));
  }

  /** Scrolls the list, never the page. */
  reveal(row) {
    if (!row) return;
    const {list} = this;
    const top = row.offsetTop;  // in the list, which is positioned
    const end = top + row.offsetHeight, seen = list.scrollTop;
    const isSeen = top >= seen && end <= seen + list.clientHeight;
    if (!isSeen) list.scrollTop = top - list.clientHeight / 3;
  }
}
