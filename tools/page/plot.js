/* plot.js -- curves over time as SVG, with a cursor at the time that is shown. */

/* ---- small parts of a page ---- */

function make(name, attributes = {}, ...inside) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...inside);
  return e;
}
function svg(name, attributes = {}) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
}
/* Three digits, as a table has them. */
function digits(x) {
  if (!Number.isFinite(x)) return "-";
  const a = Math.abs(x);
  return a !== 0 && (a >= 1e5 || a < 1e-3) ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}
/* Round numbers between two, about as many as asked for. */
function ticks(low, high, about) {
  const raw = (high - low) / about, ten = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * ten).find(s => s >= raw), out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

/* The number of a tick, with as many digits as its neighbours need. */
function tickText(x, all) {
  const step = all.length > 1 ? Math.abs(all[1] - all[0]) : Math.abs(x) || 1, most = Math.max(...all.map(Math.abs));
  if (most >= 1e5 || most < 1e-3) return x === 0 ? "0" : x.toExponential(clamp(Math.ceil(Math.log10(most / step)), 0, 3));
  return x.toFixed(clamp(-Math.floor(Math.log10(step) + 1e-9), 0, 7));
}

/* ---- curves over time ---- */

/* One plot: curves of {name, colour, time, value, dashed, dotted}, a cursor at the time that is shown. */
class Plot {
  constructor(title, unit, seek) {
    this.unit = unit;
    this.title = title;
    this.key = make("div", {class: "key"});
    this.picture = svg("svg", {viewBox: "0 0 400 150", class: "curves", role: "img"});
    this.cursor = make("div", {class: "cursor"});
    this.box = make("section", {class: "plot"}, make("h3", {}, `${title}, ${unit}`),
      make("div", {class: "pane"}, this.picture, this.cursor), this.key);
    const drag = e => {
      if (e.type === "pointermove" && !e.buttons) return;
      const r = this.picture.getBoundingClientRect(), x = (e.clientX - r.left) / r.width * 400;
      seek(this.from + (clamp(x, 44, 396) - 44) / 352 * (this.to - this.from));
    };
    this.picture.addEventListener("pointerdown", drag);
    this.picture.addEventListener("pointermove", drag);
  }
  /* Curves anew. The axis leaves out peaks that are far above nearly all, and says so. */
  show(curves, from, to) {
    this.curves = curves;
    this.from = from;
    this.to = to > from ? to : from + 1;
    const all = [];
    for (const c of curves) for (const y of c.value) if (Number.isFinite(y)) all.push(y);
    this.box.hidden = all.length === 0;
    if (!all.length) return;
    all.sort((a, b) => a - b);
    let low = all[0], high = all[all.length - 1];
    const usual = all[Math.floor(0.97 * (all.length - 1))], peak = high;
    if (low >= 0 && high > 6 * usual && usual > 0) high = 4 * usual;
    if (low >= 0 && low < 0.4 * high) low = 0;
    const least = 1e-5 * Math.max(Math.abs(low), Math.abs(high)), flat = Math.abs(high) / 2 || 1;
    if (!(high - low > least)) [low, high] = [low - flat, high + flat];
    const margin = 0.06 * (high - low);
    this.low = low === 0 ? 0 : low - margin;
    this.high = high + margin;
    this.draw(peak > this.high ? `up to ${digits(peak)} ${this.unit}` : "");
  }
  x(t) { return 44 + 352 * (t - this.from) / (this.to - this.from); }
  y(v) { return 128 - 120 * (v - this.low) / (this.high - this.low); }
  draw(note) {
    const s = this.picture;
    s.replaceChildren();
    const label = (x, y, text, anchor) => {
      const t = svg("text", {x, y, "text-anchor": anchor});
      t.textContent = text;
      s.append(t);
    };
    const values = ticks(this.low, this.high, 4);
    for (const v of values) {
      s.append(svg("path", {class: "grid", d: `M44 ${this.y(v)}H396`}));
      label(40, this.y(v) + 3.5, tickText(v, values), "end");
    }
    const times = ticks(this.from, this.to, 5);
    times.forEach((t, i) => {
      s.append(svg("path", {class: "grid", d: `M${this.x(t)} 8V128`}));
      label(Math.min(388, this.x(t)), 141, tickText(t, times) + (i + 1 === times.length ? " s" : ""), "middle");
    });
    if (note) label(392, 16, note, "end");
    for (const c of this.curves) s.append(this.curve(c));
    s.setAttribute("aria-label", `${this.title} over time: ${this.curves.map(c => c.name).join(", ")}`);
    this.key.replaceChildren(...this.curves.map(c => {
      c.number = make("b");
      const mark = make("i", {class: c.dashed ? "dashed" : ""});
      mark.style.setProperty("--c", c.colour);
      return make("span", {}, mark, c.name + " ", c.number);
    }));
  }
  /* Where curves have more numbers than the picture has columns, the extremes of each column. */
  curve(c) {
    const n = c.time.length, each = Math.max(1, Math.floor(n / 500));
    let d = "", pen = false;
    for (let i = 0; i < n; i += each) {
      let a = i, b = i;
      for (let k = i; k < Math.min(n, i + each); k++) {
        if (c.value[k] < c.value[a]) a = k;
        if (c.value[k] > c.value[b]) b = k;
      }
      for (const k of a === b ? [a] : a < b ? [a, b] : [b, a]) {
        if (!Number.isFinite(c.value[k])) { pen = false; continue; }
        const y = clamp(this.y(c.value[k]), 4, 132).toFixed(1);
        d += `${pen ? "L" : "M"}${this.x(c.time[k]).toFixed(1)} ${y}`;
        pen = true;
      }
    }
    const path = svg("path", {class: "curve" + (c.dashed ? " dashed" : ""), d});
    path.style.setProperty("--c", c.colour);
    return path;
  }
  point(time) {
    if (!this.box.hidden) this.cursor.style.transform = `translateX(${(this.x(time) / 4).toFixed(2)}%)`;
  }
  tell(time) {
    if (this.box.hidden) return;
    for (const c of this.curves) {
      const y = c.value[c.frame(time)], text = digits(Math.abs(y) < 1e-6 * Math.max(Math.abs(this.low), this.high) ? 0 : y);
      if (c.number.textContent !== text) c.number.textContent = text;
    }
  }
}
