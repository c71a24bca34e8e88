/* replay.js -- plays the motions of a page: its controls, takes and tracks, time, mouse, touch and keys.
 *
 * A page holds <figure class="replay"> with two blocks of data: a scene as JSON, and numbers in base64 that it points
 * into (tools/replay_page.c says how they are laid out). Nothing is loaded from elsewhere. */

class Replay extends Stage {
  constructor(figure) {
    super();
    this.figure = figure;
    this.scene = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const data = figure.querySelector("script[type='text/plain']"), bytes = new Bytes(data.textContent);
    data.remove();
    const s = this.scene;
    this.tracks = s.tracks.map(t => new Track(t, bytes, s.bodies.length));
    this.colours = bodyColours(s.parents);
    this.meshes = s.meshes.map(m =>
      faceted(bytes.of(Float32Array, m.vertex), bytes.of(m.wide ? Uint32Array : Uint16Array, m.triangle)));
    this.radius = s.bodies.map((_, i) => Math.max(0.3 * s.extent, ...s.shapes.filter(g => g.body === i && g.shape !== "plane")
      .map(g => length(g.pos) + this.reach(g))));
    /* What is followed of a body: its origin where it is free, else the middle of its shapes. */
    this.spot = s.bodies.map((_, i) => {
      const own = s.shapes.filter(g => g.body === i);
      return s.free[i] || !own.length ? [0, 0, 0] : [0, 1, 2].map(k => own.reduce((sum, g) => sum + g.pos[k], 0) / own.length);
    });
    this.on = {forces: true, trails: s.bodies.length <= 12, rods: s.bare, follow: false, side: false};
    this.gain = 1;
    this.speed = 1;
    this.time = 0;
    this.level = 0;
    this.selected = -1;
    this.solidHeap = new Heap();
    this.ghostHeap = new Heap();
    this.dotHeap = new Heap();
    this.many = this.scene.bodies.length > 40;
    this.arrowList = new Arrows(this.many);
    this.stroke = new Float32Array(10 * 1024);
    this.build();
    try {
      this.startPainting();
    } catch (e) {
      this.stage.replaceChildren(make("p", {class: "missing"},
        `The motion is not drawn: this browser gives no WebGL2 (${e.message}). The curves are there.`));
    }
    this.readTheme();
    this.begin(0);
    this.readHash();
    this.listen();
    this.figure.classList.add("ready");
    requestAnimationFrame(now => this.tick(now));
  }

  startPainting() {
    this.painter = new Painter(this.canvas, this.meshes, this.many);
    this.dirty = true;
  }

  /* ---- controls ---- */

  button(label, key, act, pressed) {
    const b = make("button", {type: "button", title: key ? `${label} (key ${key})` : label}, label);
    if (pressed !== undefined) b.setAttribute("aria-pressed", pressed);
    b.addEventListener("click", () => act(b));
    return b;
  }
  toggle(name, label, key) {
    const b = this.button(label, key, () => this.flip(name), this.on[name]);
    this.toggles[name] = b;
    return b;
  }
  flip(name) {
    this.on[name] = !this.on[name];
    this.toggles[name].setAttribute("aria-pressed", this.on[name]);
    this.arrange();
    this.dirty = true;
  }
  choice(label, values, act) {
    const e = make("select", {"aria-label": label, title: label}, ...values.map(([v, text]) => make("option", {value: v}, text)));
    e.addEventListener("change", () => act(e.value));
    return e;
  }

  build() {
    this.toggles = {};
    this.canvas = make("canvas", {tabindex: 0, "aria-label": "The motion in three dimensions; drag to turn, shift-drag to move, wheel to zoom"});
    this.names = make("div", {class: "names"});
    this.legend = make("div", {class: "legend"});
    this.stage = make("div", {class: "stage"}, this.canvas, this.names, this.legend);
    this.play = this.button("▶", "space", () => this.setPlaying(!this.playing));
    this.play.classList.add("play");
    this.play.setAttribute("aria-label", "Play");
    this.slider = make("input", {type: "range", min: 0, max: 1000, step: "any", value: 0, "aria-label": "Time"});
    this.clock = make("output", {class: "clock"});
    this.slider.addEventListener("input", () => { this.setPlaying(false); this.seek(Number(this.slider.value)); });
    this.speeds = this.choice("Speed", [[4, "4×"], [2, "2×"], [1, "1×"], [0.5, "½×"], [0.25, "¼×"], [0.1, "0.1×"], [0.02, "0.02×"]],
      v => { this.speed = Number(v); });
    this.speeds.value = "1";
    const transport = make("div", {class: "transport"}, this.play, this.slider, this.clock, this.speeds);
    this.tools = make("div", {class: "tools"});
    this.takes = this.choice("Recording", this.scene.takes.map((t, i) => [i, t]), v => this.begin(Number(v)));
    if (this.scene.takes.length > 1) this.tools.append(this.takes);
    this.boxes = make("span", {class: "tracks"});
    this.tools.append(this.boxes);
    this.sideButton = this.toggle("side", "side by side", "s");
    this.tools.append(this.sideButton, this.toggle("forces", "forces", "c"), this.toggle("trails", "trails", "t"),
      this.toggle("follow", "follow", "f"));
    if (this.scene.links.length) this.tools.append(this.toggle("rods", "links", "l"));
    if (this.tracks.some(t => t.forces)) {
      const gain = make("input", {type: "range", min: -3, max: 3, step: 0.1, value: 0, "aria-label": "Length of force arrows", title: "Length of force arrows"});
      gain.addEventListener("input", () => { this.gain = 2 ** gain.value; this.dirty = true; });
      this.tools.append(make("label", {class: "gain"}, "arrows ", gain));
    }
    this.tools.append(this.button("view", "r", () => this.frameAll()));
    this.readout = make("p", {class: "readout"});
    const seek = t => { this.setPlaying(false); this.seek(t); };
    this.plots = [new Plot("Energy", "J", seek), new Plot("Height", "m", seek), new Plot("Contact force", "N", seek)];
    this.figure.querySelector(".replay-body").replaceChildren(
      make("div", {class: "screen"}, this.stage, transport, this.tools, this.readout),
      make("div", {class: "plots"}, ...this.plots.map(p => p.box)));
    this.buildLegend();
  }

  buildLegend() {
    if (!this.tracks.some(t => t.forces)) return;
    this.legend.replaceChildren(...MODES.map((m, i) =>
      make("span", {class: "mode" + i}, make("i"), ["separates", "sticks", "slides"][i])));
  }

  /* ---- takes and tracks ---- */

  begin(take) {
    this.take = take;
    this.takes.value = String(take);
    this.shown = this.tracks.filter(t => t.take === take);
    this.shown.forEach((t, i) => {
      t.colour = TRACKS[i % TRACKS.length];
      t.visible = i < 2;
    });
    this.from = Math.min(...this.shown.map(t => t.time[0]));
    this.to = Math.max(...this.shown.map(t => t.time[t.frames - 1]));
    this.slider.min = this.from;
    this.slider.max = this.to;
    this.boxes.replaceChildren(...(this.shown.length < 2 ? [] : this.shown.map(t => {
      const box = make("input", {type: "checkbox"});
      box.checked = t.visible;
      box.addEventListener("change", () => { t.visible = box.checked; this.arrange(); });
      const mark = make("i");
      mark.style.background = t.colour;
      return make("label", {}, box, mark, t.name);
    })));
    this.sideButton.hidden = this.shown.length < 2;
    this.scaleForces();
    this.setPlaying(false);
    this.time = this.from;
    this.frameAll();
    this.arrange();
  }

  /* An arrow of a usual force is as long as the largest body. */
  scaleForces() {
    const all = [];
    for (const t of this.shown)
      for (let f = 0; f < t.frames; f += Math.max(1, Math.floor(t.frames / 50)))
        for (const c of t.contacts(f)) { const l = length(c.force); if (l > 0) all.push(l); }
    all.sort((a, b) => a - b);
    this.perNewton = all.length ? 0.8 * this.scene.extent / all[Math.floor(0.8 * (all.length - 1))] : 0;
  }

  arrange() {
    const seen = this.visible = this.shown.filter(t => t.visible);
    const split = this.on.side && seen.length > 1;
    this.names.replaceChildren(...(seen.length < 2 ? [] : seen.map(t => {
      const mark = make("i");
      mark.style.background = t.colour;
      return make("span", {}, mark, t.name);
    })));
    this.names.classList.toggle("split", split);
    this.legend.hidden = !this.on.forces || !seen.some(t => t.forces);
    this.curves();
    this.dirty = true;
  }

  curves() {
    const many = this.visible.length > 1, css = c => `rgb(${c.map(x => Math.round(255 * x)).join(" ")})`;
    const curve = (t, value, name, colour, dashed) => ({time: t.time, value, name, colour, dashed, frame: time => t.frame(time)});
    const energy = [], height = [], force = [], bodies = this.watched().slice(0, many ? 3 : 6);
    for (const t of this.visible) {
      const name = many ? t.name : "", dashed = t.measured && many;
      if (t.energy.some(Number.isFinite)) energy.push(curve(t, t.energy, name || "energy", t.colour, dashed));
      if (t.forces) {
        force.push(curve(t, t.normal, name ? `${name}, normal` : "normal", t.colour, false));
        if (!many) force.push(curve(t, t.slip, "tangential", TRACKS[1], true));
      }
      for (const b of bodies) {
        const z = Float32Array.from({length: t.frames}, (_, f) => { const p = t.at(f, b); return p ? this.spotOf(p, b)[2] : NaN; });
        const alone = bodies.length === 1 && many;
        height.push(curve(t, z, [bodies.length > 1 || !many ? this.scene.bodies[b] : "", name].filter(Boolean).join(", "),
          alone ? t.colour : css(this.colours[b]), dashed || (!alone && many && t !== this.visible[0])));
      }
    }
    [energy, height, force].forEach((c, i) => this.plots[i].show(c, this.from, this.to));
  }

  /* ---- time ---- */

  setPlaying(playing) {
    if (playing && this.time >= this.to - 1e-9) this.time = this.from;
    this.playing = playing;
    this.play.textContent = playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.dirty = true;
  }
  seek(t) {
    this.time = clamp(t, this.from, this.to);
    this.dirty = true;
  }
  /* To the next row of the first track. */
  frameStep(n) {
    const t = this.visible[0] || this.shown[0];
    this.setPlaying(false);
    const f = t.frame(this.time);
    this.seek(t.time[clamp(n < 0 && this.time > t.time[f] + 1e-7 ? f + n + 1 : f + n, 0, t.frames - 1)]);
  }
  tick(now) {
    const spent = Math.min(0.1, (now - (this.last || now)) / 1000);
    this.last = now;
    this.keepPace(spent);
    if (this.playing) {
      this.time += spent * this.speed;
      this.dirty = true;
      if (this.time >= this.to) { this.time = this.to; this.setPlaying(false); }
    }
    if (this.dirty) {
      this.dirty = false;
      this.show();
    }
    requestAnimationFrame(t => this.tick(t));
  }
  /* Where pictures come too slowly, simpler ones; the first after a change, for which programs are made, do not count. */
  keepPace(spent) {
    if (!this.playing && !this.held) {
      if (this.slow !== undefined) this.dirty = true; /* once more, well */
      this.slow = undefined;
      return;
    }
    if (this.slow === undefined) [this.slow, this.grace] = [1 / 60, 0.5];
    this.grace -= spent;
    if (this.grace > 0) return;
    this.slow = 0.85 * this.slow + 0.15 * spent;
    if (this.slow > 1 / 32 && this.level + 1 < LEVELS.length) {
      this.level++;
      this.slow = undefined;
    }
  }
  show() {
    for (const p of this.plots) p.point(this.time);
    if (this.painter) this.paint();
    if (this.playing && this.last - this.told < 100) return;
    this.told = this.last;
    this.tell();
  }
  /* Numbers: ten times a second while it plays. */
  tell() {
    this.slider.value = this.time;
    this.clock.textContent = `${this.time.toFixed(3)} s`;
    for (const p of this.plots) p.tell(this.time);
    const t = this.visible[0], p = t && this.selected >= 0 && t.between(this.time, this.selected);
    const text = p ? `${this.scene.bodies[this.selected]}: position ${p.pos.map(digits).join(", ")} m; ` +
      `quaternion ${p.quat.map(x => digits(Math.abs(x) < 5e-5 ? 0 : x)).join(", ")}` : "Click on a body to follow its numbers.";
    if (text !== this.readout.textContent) this.readout.textContent = text;
  }

  /* ---- mouse, touch, keys ---- */

  listen() {
    const c = this.canvas, held = new Map();
    let moved = 0;
    c.addEventListener("pointerdown", e => {
      c.setPointerCapture(e.pointerId);
      held.set(e.pointerId, [e.clientX, e.clientY]);
      this.held = true;
      moved = 0;
    });
    const release = e => {
      const was = held.delete(e.pointerId);
      this.held = held.size > 0;
      if (was && moved < 5 && e.type === "pointerup" && !held.size) this.pick(e);
    };
    c.addEventListener("pointerup", release);
    c.addEventListener("pointercancel", release);
    c.addEventListener("pointermove", e => {
      const was = held.get(e.pointerId);
      if (!was) return;
      const dx = e.clientX - was[0], dy = e.clientY - was[1];
      moved += Math.abs(dx) + Math.abs(dy);
      if (held.size === 1) (e.buttons & 6 || e.shiftKey ? this.pan(dx, dy) : this.orbit(dx, dy));
      if (held.size === 2) this.pinch(held, e, was);
      held.set(e.pointerId, [e.clientX, e.clientY]);
    });
    c.addEventListener("webglcontextlost", e => { e.preventDefault(); this.painter = null; });
    c.addEventListener("webglcontextrestored", () => this.startPainting());
    c.addEventListener("contextmenu", e => e.preventDefault());
    c.addEventListener("wheel", e => {
      if (document.activeElement !== c && !e.ctrlKey && !document.body.classList.contains("view")) return;
      e.preventDefault();
      this.zoom(Math.exp(clamp(e.deltaY, -120, 120) * 0.0015));
    }, {passive: false});
    c.addEventListener("dblclick", e => { this.pick(e); if (this.selected >= 0 && !this.on.follow) this.flip("follow"); });
    document.addEventListener("keydown", e => this.key(e));
    new ResizeObserver(() => { this.fitted = this.fitted && this.touched; this.dirty = true; }).observe(this.stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.readTheme());
    document.addEventListener("change", e => { if (e.target.name === "theme") this.readTheme(); });
    window.addEventListener("hashchange", () => this.readHash());
  }
  key(e) {
    const mine = this.figure.contains(document.activeElement) || document.activeElement === document.body && document.body.classList.contains("view");
    if (!mine || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|BUTTON)$/.test(e.target.tagName) && e.key === " ") return;
    if (e.target.tagName === "SELECT" || e.target.type === "range" && e.key.startsWith("Arrow")) return;
    const acts = {" ": () => this.setPlaying(!this.playing), ArrowLeft: () => this.frameStep(e.shiftKey ? -10 : -1),
      ArrowRight: () => this.frameStep(e.shiftKey ? 10 : 1), Home: () => this.seek(this.from), End: () => this.seek(this.to),
      "+": () => this.zoom(0.8), "-": () => this.zoom(1.25), s: () => this.shown.length > 1 && this.flip("side"), c: () => this.flip("forces"),
      t: () => this.flip("trails"), f: () => this.flip("follow"), l: () => this.toggles.rods && this.flip("rods"), r: () => this.frameAll(),
      "1": () => this.turnTo(-Math.PI / 2, 0.02), "2": () => this.turnTo(0, 0.02), "3": () => this.turnTo(-Math.PI / 2, 1.55),
      "<": () => this.faster(1), ">": () => this.faster(-1)};
    if (!acts[e.key]) return;
    e.preventDefault();
    acts[e.key]();
  }
  faster(by) {
    this.speeds.selectedIndex = clamp(this.speeds.selectedIndex + by, 0, this.speeds.options.length - 1);
    this.speed = Number(this.speeds.value);
  }

  /* page.html#t=1.5&play&side: a moment to link to. */
  readHash() {
    const words = new URLSearchParams(location.hash.slice(1));
    if (words.has("take")) this.begin(clamp(Number(words.get("take")) || 0, 0, this.scene.takes.length - 1));
    if (words.has("side") !== this.on.side && this.shown.length > 1 && words.size) this.flip("side");
    if (words.has("t")) this.seek(Number(words.get("t")) || 0);
    if (words.has("play")) this.setPlaying(true);
  }
}

for (const figure of document.querySelectorAll("figure.replay")) new Replay(figure);
