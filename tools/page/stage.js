/* stage.js -- the picture of a replay: what is drawn at a time, seen by a camera, and what is under a pointer. */

/* Knows scene, tracks, shown and visible, time, on, selected; a replay gives it these. */
class Stage {
  reach(g) {
    const [x, y, z] = g.size;
    if (g.shape === "sphere") return x;
    if (g.shape === "capsule" || g.shape === "cylinder") return x + y;
    if (g.shape === "mesh") return this.scene.meshes[g.mesh].radius * Math.max(x, y, z);
    return Math.hypot(x, y, z);
  }

  /* Bodies whose height and trail are shown: the one chosen, or where trees begin and end. */
  watched() {
    if (this.selected >= 0) return [this.selected];
    const s = this.scene, carries = new Set(s.parents.filter(p => p >= 0));
    return s.bodies.map((_, i) => i).filter(i => s.parents[i] < 0 && s.free[i] || s.parents[i] >= 0 && !carries.has(i) && !this.rooted(i))
      .concat(s.bodies.map((_, i) => i).filter(i => s.parents[i] < 0 && !s.free[i] && !carries.has(i)));
  }
  spotOf(pose, b) { return add(pose.pos, turn(pose.quat, this.spot[b])); }
  rooted(i) {
    for (; this.scene.parents[i] >= 0; i = this.scene.parents[i]);
    return this.scene.free[i];
  }

  readTheme() {
    const css = getComputedStyle(this.figure), of = name => hex(css.getPropertyValue(name));
    const dark = of("--page").reduce((a, b) => a + b) < 1.5;
    this.theme = {back: of("--stage"), floor: of("--floor"), line: of("--grid"), dark: dark ? 0.45 : 0.68,
      sky: dark ? [0.55, 0.58, 0.66] : [0.62, 0.65, 0.7], ground: dark ? [0.2, 0.19, 0.19] : [0.34, 0.32, 0.3],
      still: dark ? [0.47, 0.48, 0.5] : [0.7, 0.7, 0.69]};
    this.modes = [of("--mode-break"), of("--mode-stick"), of("--mode-slide")];
    this.dirty = true;
  }

  /* Look at everything that moves, from the side that shows most of it. */
  frameAll() {
    this.seen = [];
    for (const t of this.shown)
      for (let b = 0; b < this.scene.bodies.length; b++)
        for (let f = 0; f < t.frames; f += Math.max(1, Math.floor(t.frames / 60))) {
          const p = t.at(f, b);
          if (p) this.seen.push([...p.pos, this.radius[b]]);
        }
    /* Of many bodies a few that roll away are let go. */
    const share = this.scene.bodies.length < 4 ? 1 : this.scene.parents.every(p => p < 0) ? 0.88 : 1, n = this.seen.length;
    const sides = [0, 1, 2].map(k => {
      const low = this.seen.map(p => p[k] - p[3]).sort((a, b) => a - b), high = this.seen.map(p => p[k] + p[3]).sort((a, b) => a - b);
      return n ? [low[Math.floor((1 - share) * (n - 1))], high[Math.ceil(share * (n - 1))]] : [-1, 1];
    });
    const sizes = sides.map(([low, high]) => Math.max(0.1 * this.scene.extent, high - low)), target = sides.map(([low, high]) => (low + high) / 2);
    this.seen = this.seen.filter(p => sides.every(([low, high], k) => p[k] >= low && p[k] <= high));
    this.span = Math.min(Math.hypot(...sizes), 40 * this.scene.extent + 4);
    this.camera = {azimuth: sizes[0] >= sizes[1] ? -1.15 : -0.42, height: 0.33, target, distance: 1};
    this.fitted = this.touched = false;
    this.dirty = true;
  }
  /* As near as lets all of it be seen; what goes very far away is let go. */
  fitDistance(aspect) {
    const c = this.camera, away = this.away(), right = [-Math.sin(c.azimuth), Math.cos(c.azimuth), 0], up = cross(away, right);
    let least = this.scene.extent;
    for (const p of this.seen) {
      const d = add(p, c.target, -1), near = dot(d, away);
      least = Math.max(least, near + (Math.abs(dot(d, right)) + p[3]) / (SLOPE * aspect), near + (Math.abs(dot(d, up)) + p[3]) / SLOPE);
    }
    c.distance = 1.02 * Math.min(least, 4 * this.span);
    this.fitted = true;
  }
  away() {
    const c = this.camera;
    return [Math.cos(c.height) * Math.cos(c.azimuth), Math.cos(c.height) * Math.sin(c.azimuth), Math.sin(c.height)];
  }

  resize() {
    const level = LEVELS[this.level], moving = this.playing || this.held;
    let ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (this.painter.software) ratio = moving ? Math.min(1, ratio) * level.sharp : Math.max(2, ratio);
    else ratio *= level.sharp;
    const c = this.canvas;
    const w = Math.max(1, Math.round(c.clientWidth * ratio)), h = Math.max(1, Math.round(c.clientHeight * ratio));
    if (c.width !== w || c.height !== h) { c.width = w; c.height = h; }
  }

  look(width, height) {
    const c = this.camera, aspect = width / height;
    if (!this.fitted) this.fitDistance(aspect);
    if (this.on.follow) this.keepUp();
    const away = this.away();
    const eye = add(c.target, away, c.distance), far = 60 * Math.max(c.distance, this.span);
    const matrix = product(perspective(SLOPE, aspect, 0.01 * c.distance, far), lookAt(eye, c.target, [0, 0, 1]));
    const cell = 10 ** Math.round(Math.log10(c.distance / 12));
    return {matrix, eye, target: c.target, theme: this.theme, reach: 6 * Math.max(c.distance, 0.5 * this.span), cell,
      samples: LEVELS[this.level].samples, width, height, away};
  }
  keepUp() {
    const t = this.visible[0];
    if (!t) return;
    const bodies = this.selected >= 0 ? [this.selected] : this.watched();
    const at = bodies.map(b => [t.between(this.time, b), b]).filter(([p]) => p).map(([p, b]) => this.spotOf(p, b));
    if (at.length) this.camera.target = [0, 1, 2].map(k => at.reduce((s, p) => s + p[k], 0) / at.length);
  }

  paint() {
    this.resize();
    const n = this.on.side ? Math.max(1, this.visible.length) : 1, gl = this.painter.gl;
    const tall = this.canvas.height > this.canvas.width, w = this.canvas.width, h = this.canvas.height;
    for (let i = 0; i < n; i++) {
      const part = this.on.side ? this.visible.slice(i, i + 1) : this.visible;
      const box = tall ? [0, Math.floor(h * (n - 1 - i) / n), w, Math.floor(h / n)] : [Math.floor(w * i / n), 0, Math.floor(w / n), h];
      const look = this.look(box[2], box[3]);
      this.fill(part);
      this.painter.gl.bindTexture(gl.TEXTURE_2D, null);
      this.painter.shadows(this.solidHeap, look.target, Math.min(1.4 * this.camera.distance, 1.2 * this.span + this.scene.extent));
      if (i === 0) this.painter.begin(this.canvas, this.theme.back);
      else gl.bindTexture(gl.TEXTURE_2D, this.painter.depths);
      gl.viewport(...box);
      this.scenery(look, part);
    }
  }

  scenery(look, part) {
    const p = this.painter;
    const planes = this.scene.shapes.filter(g => g.shape === "plane");
    p.planes(planes.length || this.scene.shapes.some(g => g.shape === "hfield") ? planes :
      [{pos: [0, 0, 0], quat: [1, 0, 0, 0], ghost: true}], look);
    p.solids(this.solidHeap, look);
    p.ghosts(this.ghostHeap, look);
    if (this.on.trails) for (const t of part) p.strokesOf(this.stroke, this.trail(t), 1.8 * (window.devicePixelRatio || 1), look);
    p.marks(this.dotHeap, this.arrowList, look);
  }

  /* Everything at this time into heaps: the first track as it is, others to be seen through. */
  fill(part) {
    for (const h of [this.solidHeap, this.ghostHeap, this.dotHeap]) h.clear();
    this.arrowList.n = 0;
    this.place(null, this.solidHeap, () => [...this.theme.still, 1]);
    const solid = part.find(t => !t.measured) || part[0];
    for (const t of part) {
      const poses = this.scene.bodies.map((_, b) => t.between(this.time, b));
      const tint = hex(t.colour);
      const colour = t === solid ? b => [...(b === this.selected ? this.colours[b].map(x => 0.45 + 0.55 * x) : this.colours[b]), 1] :
        () => [...tint, 0.42];
      const heap = t === solid ? this.solidHeap : this.ghostHeap;
      this.place(poses, heap, colour);
      if (this.on.rods) this.rods(poses, heap, t === solid ? null : [...tint, 0.42]);
      if (this.on.forces && t.forces) this.arrows(t, t === solid);
    }
  }

  place(poses, heap, colour) {
    for (const g of this.scene.shapes) {
      if ((g.body < 0) !== !poses || g.shape === "plane") continue;
      const pose = poses ? poses[g.body] : {pos: [0, 0, 0], quat: [1, 0, 0, 0]};
      if (!pose) continue;
      const pos = add(pose.pos, turn(pose.quat, g.pos)), quat = times(pose.quat, g.quat), [x, y] = g.size, c = colour(g.body);
      if (g.shape === "sphere") heap.put("sphere", pos, quat, [x, x, x], 0, c);
      else if (g.shape === "ellipsoid") heap.put("sphere", pos, quat, g.size, 0, c);
      else if (g.shape === "box") heap.put("box", pos, quat, g.size, 0, c);
      else if (g.shape === "capsule") heap.put("capsule", pos, quat, [x, x, x], y, c);
      else if (g.shape === "cylinder") heap.put("cylinder", pos, quat, [x, x, y], 0, c);
      else heap.put((g.shape === "hfield" ? "field" : "mesh") + g.mesh, pos, quat, g.size, 0, c);
    }
  }

  rods(poses, heap, tint) {
    for (const l of this.scene.links) {
      const [a, b] = [0, 1].map(i => { const p = poses[l.body[i]]; return p && add(p.pos, turn(p.quat, l.point[i])); });
      if (!a || !b) continue;
      const c = tint || [...this.colours[l.body[1]], 1], r = this.scene.rod;
      heap.rod(a, b, 0.6 * r, c);
      for (const at of [a, b]) heap.put("sphere", at, [1, 0, 0, 0], [r, r, r], 0, tint || [...this.colours[l.body[1]].map(x => 0.8 * x), 1]);
    }
  }

  arrows(t, main) {
    const thin = clamp(0.0045 * this.camera.distance, 0.004 * this.scene.extent, 0.05 * this.scene.extent);
    const all = t.contacts(t.frame(this.time)), many = all.length > 60;
    for (const c of all) {
      const most = 3 * this.scene.extent, l = most * (1 - Math.exp(-length(c.force) * this.perNewton * this.gain / most));
      const colour = this.modes[c.mode], alpha = main ? 1 : 0.6, dot = 1.3 * thin;
      if (!many || l < 3 * thin && c.mode > 0) this.dotHeap.put("dot", c.point, [1, 0, 0, 0], [dot, dot, dot], 0, [...colour, alpha]);
      if (l >= 3 * thin) this.arrowList.put(c.point, unit(c.force), l, thin, colour, alpha);
    }
  }

  /* Where bodies have been, as strokes that fade. @return how many */
  trail(t) {
    const last = t.frame(this.time), bodies = this.watched().slice(0, 24), each = Math.max(1, Math.ceil(last / 400));
    let n = 0;
    for (const b of bodies) {
      let before = null;
      const colour = this.visible.length > 1 ? hex(t.colour) : this.colours[b].map(x => 0.85 * x);
      for (let f = last % each; f <= last + each; f += each) {
        const pose = f > last ? t.between(this.time, b) : t.at(f, b), p = pose && this.spotOf(pose, b);
        if (p && before) {
          if (10 * (n + 1) > this.stroke.length) {
            const more = new Float32Array(2 * this.stroke.length);
            more.set(this.stroke);
            this.stroke = more;
          }
          const alpha = 0.35 + 0.55 * (f / Math.max(1, last)) ** 2;
          this.stroke.set([...before, ...p, ...colour, Math.min(0.9, alpha)], 10 * n++);
        }
        before = p;
      }
    }
    return n;
  }

  /* ---- the camera, and what it points at ---- */

  orbit(dx, dy) {
    this.touched = true;
    this.camera.azimuth -= 0.007 * dx;
    this.camera.height = clamp(this.camera.height + 0.007 * dy, -1.5, 1.55);
    this.dirty = true;
  }
  pan(dx, dy) {
    this.touched = true;
    const c = this.camera, s = 2 * SLOPE * c.distance / this.canvas.clientHeight;
    const right = [-Math.sin(c.azimuth), Math.cos(c.azimuth), 0];
    c.target = add(add(c.target, right, -s * dx), cross(this.away(), right), s * dy);
    this.dirty = true;
  }
  zoom(factor) {
    this.touched = true;
    this.camera.distance = clamp(this.camera.distance * factor, 0.05 * this.scene.extent, 100 * this.span);
    this.dirty = true;
  }
  pinch(held, e, was) {
    const other = [...held].find(([id]) => id !== e.pointerId)[1], now = [e.clientX, e.clientY];
    const before = Math.hypot(was[0] - other[0], was[1] - other[1]), after = Math.hypot(now[0] - other[0], now[1] - other[1]);
    if (after > 1) this.zoom(before / after);
    this.pan((now[0] - was[0]) / 2, (now[1] - was[1]) / 2);
  }
  turnTo(azimuth, height) {
    Object.assign(this.camera, {azimuth, height});
    this.dirty = true;
  }

  /* The body under the pointer: the nearest shape that the line of sight meets. */
  pick(e) {
    const r = this.canvas.getBoundingClientRect(), n = this.on.side ? Math.max(1, this.visible.length) : 1, tall = r.height > r.width;
    const w = tall ? r.width : r.width / n, h = tall ? r.height / n : r.height, i = Math.floor(tall ? (e.clientY - r.top) / h : (e.clientX - r.left) / w);
    const x = 2 * ((e.clientX - r.left) % w) / w - 1, y = 1 - 2 * ((e.clientY - r.top) % h) / h;
    const look = this.look(w, h), right = unit(cross([0, 0, 1], look.away)), up = cross(look.away, right);
    const ray = unit(add(add(add([0, 0, 0], look.away, -1), right, SLOPE * x * w / h), up, SLOPE * y));
    const t = (this.on.side ? [this.visible[clamp(i, 0, n - 1)]] : this.visible).find(Boolean);
    let best = Infinity, found = -1;
    for (const g of t ? this.scene.shapes : []) {
      const pose = g.body >= 0 && t.between(this.time, g.body);
      if (!pose) continue;
      const d = this.meets(g, pose, look.eye, ray);
      if (d < best) { best = d; found = g.body; }
    }
    this.selected = found === this.selected ? -1 : found;
    this.curves();
    this.dirty = true;
  }
  meets(g, pose, eye, ray) {
    const q = inverse(times(pose.quat, g.quat)), o = turn(q, add(eye, add(pose.pos, turn(pose.quat, g.pos)), -1)), d = turn(q, ray);
    const [x, y] = g.size, round = g.shape === "sphere" || g.shape === "ellipsoid";
    const half = g.shape === "sphere" ? [x, x, x] : g.shape === "capsule" ? [x, x, x + y] : g.shape === "cylinder" ? [x, x, y] :
      g.shape === "mesh" ? g.size.map(s => s * this.scene.meshes[g.mesh].radius) : g.size;
    if (round) {
      const a = o.map((v, k) => v / half[k]), b = d.map((v, k) => v / half[k]), bb = dot(b, b), ab = dot(a, b);
      const root = ab * ab - bb * (dot(a, a) - 1);
      return root < 0 || ab > 0 ? Infinity : (-ab - Math.sqrt(root)) / bb;
    }
    let enter = 0, leave = Infinity;
    for (let k = 0; k < 3; k++) {
      const s = (-half[k] - o[k]) / d[k], u = (half[k] - o[k]) / d[k];
      enter = Math.max(enter, Math.min(s, u));
      leave = Math.min(leave, Math.max(s, u));
    }
    return enter <= leave ? enter : Infinity;
  }
}
