/* track.js -- the numbers of a page: where bodies are at a time, what touches, curves, colours. */

class Bytes {
  constructor(text) {
    const raw = atob(text.trim()), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    this.buffer = bytes.buffer;
  }
  of(kind, [at, n]) { return new kind(this.buffer, at, n); }
}

/* A motion: where bodies are at a time, what touches, curves. */
class Track {
  constructor(t, bytes, bodies) {
    Object.assign(this, {name: t.name, take: t.take, measured: t.measured, forces: t.forces && t.contact[1] > 0, bodies});
    this.time = bytes.of(Float32Array, t.time);
    this.frames = this.time.length;
    this.box = bytes.of(Float32Array, t.box);
    this.pose = bytes.of(Int16Array, t.pose);
    this.energy = bytes.of(Float32Array, t.energy);
    this.normal = bytes.of(Float32Array, t.normal);
    this.slip = bytes.of(Float32Array, t.slip);
    this.contactAt = bytes.of(Uint32Array, t.contact_at);
    this.contact = bytes.of(Int16Array, t.contact);
    this.mode = bytes.of(Uint8Array, t.mode);
    this.contactBox = t.contact_box;
    this.most = t.force;
  }
  /* The last frame at or before a time. */
  frame(time) {
    let low = 0, high = this.frames - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle] <= time + 1e-7) low = middle; else high = middle - 1;
    }
    return low;
  }
  at(frame, body) {
    const p = this.pose, i = 7 * (frame * this.bodies + body), b = this.box, k = 6 * body;
    if (p[i] === -32768) return null;
    return {
      pos: [b[k] + b[k + 3] * p[i], b[k + 1] + b[k + 4] * p[i + 1], b[k + 2] + b[k + 5] * p[i + 2]],
      quat: [p[i + 3] / 32767, p[i + 4] / 32767, p[i + 5] / 32767, p[i + 6] / 32767]};
  }
  between(time, body) {
    const f = this.frame(time), a = this.at(f, body);
    if (!a || f + 1 >= this.frames || time <= this.time[f]) return a;
    const b = this.at(f + 1, body);
    if (!b) return a;
    const s = (time - this.time[f]) / (this.time[f + 1] - this.time[f]);
    const same = a.quat[0] * b.quat[0] + a.quat[1] * b.quat[1] + a.quat[2] * b.quat[2] + a.quat[3] * b.quat[3] < 0 ? -1 : 1;
    const q = a.quat.map((x, i) => x + s * (same * b.quat[i] - x)), l = Math.hypot(...q) || 1;
    return {pos: add(a.pos, add(b.pos, a.pos, -1), s), quat: q.map(x => x / l)};
  }
  contacts(frame) {
    const out = [], c = this.contact, b = this.contactBox;
    for (let i = this.contactAt[frame]; i < this.contactAt[frame + 1]; i++) {
      const force = [3, 4, 5].map(k => { const x = c[6 * i + k] / 32767; return Math.sign(x) * x * x * this.most; });
      out.push({point: [0, 1, 2].map(k => b[k] + b[k + 3] * c[6 * i + k]), force, mode: this.mode[i]});
    }
    return out;
  }
}

/* ---- colours ---- */

const hex = text => [1, 3, 5].map(i => parseInt(text.trim().slice(i, i + 2), 16) / 255);
const BODIES = ["#4f81bd", "#e08e45", "#5fa777", "#c8605c", "#8f77b5", "#d9b44a", "#4ba3a8", "#a87b5b", "#c777a5", "#8a9a46"].map(hex);
const TRACKS = ["#0072b2", "#d55e00", "#00875f", "#b85f92", "#b07800", "#3a92cc", "#8a6fd1", "#7f7f7f", "#a5572d", "#3f8f3f", "#b8426b", "#5c7f99"];
const MODES = ["break", "stick", "slide"];

/* The colour of a tree of bodies, lighter and darker along it. */
function bodyColours(parents) {
  let trees = 0;
  const of = [];
  parents.forEach((p, i) => {
    of.push(p < 0 ? {hue: trees++, depth: 0} : {hue: of[p].hue, depth: of[p].depth + 1});
  });
  return of.map(({hue, depth}) => {
    const c = BODIES[hue % BODIES.length], s = [0, 0.22, -0.12, 0.12][depth % 4];
    return c.map(x => clamp(s > 0 ? x + s * (1 - x) : x * (1 + s), 0, 1));
  });
}
