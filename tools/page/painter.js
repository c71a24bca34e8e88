/* painter.js -- draws shapes, floors, arrows and strokes by WebGL2, with shadows. */

const INSTANCE = 15; /* numbers: position, quaternion, size, colour */
const PATTERN = {sphere: 2, box: 1, capsule: 2, cylinder: 3, field: 4};
const SUN = unit([0.45, -0.35, 1.1]);
const SHADOWS = 1024;
const LEVELS = [{sharp: 1, samples: 4}, {sharp: 1, samples: 1}, {sharp: 0.75, samples: 1}, {sharp: 0.5, samples: 1}];
const SLOPE = 0.36; /* tangent of half the angle that is seen */

function program(gl, vertex, fragment) {
  const p = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const s = gl.createShader(kind);
    gl.shaderSource(s, text);
    gl.compileShader(s);
    if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
    gl.attachShader(p, s);
  }
  gl.linkProgram(p);
  if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
  const at = {};
  for (let i = gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS) - 1; i >= 0; i--) {
    const name = gl.getActiveUniform(p, i).name;
    at[name] = gl.getUniformLocation(p, name);
  }
  return {p, at};
}

/* Things to draw of each form, written again for every picture. */
class Heap {
  constructor() { this.of = new Map(); }
  clear() { for (const h of this.of.values()) h.n = 0; }
  put(name, pos, quat, size, extra, colour) {
    let h = this.of.get(name);
    if (!h) this.of.set(name, h = {data: new Float32Array(INSTANCE * 64), n: 0});
    if ((h.n + 1) * INSTANCE > h.data.length) {
      const more = new Float32Array(2 * h.data.length);
      more.set(h.data);
      h.data = more;
    }
    h.data.set([pos[0], pos[1], pos[2], quat[0], quat[1], quat[2], quat[3], size[0], size[1], size[2], extra,
      colour[0], colour[1], colour[2], colour[3]], INSTANCE * h.n++);
  }
  rod(a, b, radius, colour) {
    const d = add(b, a, -1), l = length(d);
    if (l > 0) this.put("cylinder", add(a, d, 0.5), alongZ(unit(d)), [radius, radius, l / 2], 0, colour);
  }
}

/* Whether a processor draws in place of a graphics card: then edges are smoothed where time stands still only. */
function drawsBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const more = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  const lose = gl.getExtension("WEBGL_lose_context");
  if (lose) lose.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/* Arrows as triangles: so many sides of a shaft and of a head, fewer where many arrows are to be expected. */
class Arrows {
  static NUMBERS = 10; /* of a corner: place, normal, colour */
  constructor(many) {
    [this.shaft, this.head] = many ? [3, 4] : [5, 6];
    this.points = 2 * (this.shaft + this.head);
    this.corners = 6 * this.shaft + 3 * this.head;
    this.data = new Float32Array(64 * this.points * Arrows.NUMBERS);
    this.n = 0;
  }
  cornersOf(n) {
    const out = new Uint32Array(n * this.corners);
    let at = 0;
    for (let i = 0; i < n; i++) {
      const shaft = i * this.points, head = shaft + 2 * this.shaft;
      for (let k = 0; k < this.shaft; k++) {
        const a = shaft + 2 * k, b = shaft + 2 * ((k + 1) % this.shaft);
        for (const x of [a, b, b + 1, a, b + 1, a + 1]) out[at++] = x;
      }
      for (let k = 0; k < this.head; k++)
        for (const x of [head + 2 * k, head + 2 * ((k + 1) % this.head), head + 2 * k + 1]) out[at++] = x;
    }
    return out;
  }
  used() { return this.data.subarray(0, this.n * this.points * Arrows.NUMBERS); }
  put(from, d, long, thin, colour, alpha) {
    const size = this.points * Arrows.NUMBERS;
    if ((this.n + 1) * size > this.data.length) {
      const more = new Float32Array(2 * this.data.length);
      more.set(this.data);
      this.data = more;
    }
    const u = unit(Math.abs(d[2]) < 0.9 ? [d[1], -d[0], 0] : [0, d[2], -d[1]]), v = cross(d, u);
    const head = Math.min(6 * thin, 0.45 * long);
    let at = this.n++ * size;
    const ring = (sides, radius, low, high, top) => {
      for (let k = 0; k < sides; k++) {
        const c = Math.cos(2 * Math.PI * k / sides), s = Math.sin(2 * Math.PI * k / sides);
        for (const [r, l] of [[radius, low], [top, high]]) {
          for (let i = 0; i < 3; i++) {
            const out = c * u[i] + s * v[i];
            this.data[at + i] = from[i] + r * out + l * d[i];
            this.data[at + 3 + i] = out;
            this.data[at + 6 + i] = colour[i];
          }
          this.data[at + 9] = alpha;
          at += Arrows.NUMBERS;
        }
      }
    };
    ring(this.shaft, thin, 0, long - head, thin);
    ring(this.head, 2.4 * thin, long - head, long, 0);
  }
}

class Painter {
  constructor(canvas, meshes, many) {
    this.software = drawsBySoftware();
    const gl = canvas.getContext("webgl2", {antialias: !this.software, alpha: false, powerPreference: "low-power"});
    if (!gl) throw new Error("no WebGL2");
    this.gl = gl;
    this.programs = new Map();
    this.depth = program(gl, solidVertex, depthFragment);
    this.lines = program(gl, lineVertex, lineFragment);
    this.instances = gl.createBuffer();
    this.forms = new Map();
    const fine = many && this.software ? 8 : 20; /* half the corners around */
    this.addForm("sphere", turned(roundProfile(fine), 2 * fine - 4));
    this.addForm("capsule", turned(roundProfile(fine), 2 * fine - 4));
    this.addForm("box", boxForm());
    this.addForm("cylinder", turned(cylinderProfile, 2 * fine));
    this.arrowForm();
    this.addForm("dot", turned(roundProfile(4), 6));
    meshes.forEach((m, i) => ["mesh", "field"].forEach(kind => this.addForm(kind + i, m)));
    this.quad = gl.createVertexArray();
    gl.bindVertexArray(this.quad);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    this.strokes = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.strokes);
    [[1, 3, 0], [2, 3, 12], [3, 4, 24]].forEach(([at, n, offset]) => this.instanced(at, n, 40, offset));
    this.makeShadows();
  }

  instanced(at, n, stride, offset) {
    const gl = this.gl;
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, n, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(at, 1);
  }

  addForm(name, f) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, f.vertex, gl.STATIC_DRAW);
    [[0, 3, 0], [1, 3, 12], [2, 1, 24]].forEach(([at, n, offset]) => {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, n, gl.FLOAT, false, 28, offset);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, f.index, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    [[3, 3, 0], [4, 4, 12], [5, 4, 28], [6, 4, 44]].forEach(([at, n, offset]) =>
      this.instanced(at, n, 4 * INSTANCE, offset));
    this.forms.set(name, {array, n: f.index.length});
  }

  /* Arrows are written as triangles: an instance each costs more where a processor draws. */
  arrowForm() {
    const gl = this.gl;
    this.arrows = {array: gl.createVertexArray(), vertex: gl.createBuffer(), index: gl.createBuffer(), room: 0};
    gl.bindVertexArray(this.arrows.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.arrows.vertex);
    [[0, 3, 0], [1, 3, 12], [6, 4, 24]].forEach(([at, n, offset]) => {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, n, gl.FLOAT, false, 4 * Arrows.NUMBERS, offset);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.arrows.index);
  }
  arrowsOf(list) {
    const gl = this.gl;
    if (!list.n) return;
    gl.bindVertexArray(this.arrows.array);
    if (this.arrows.room < list.n) {
      this.arrows.room = 2 * list.n;
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list.cornersOf(this.arrows.room), gl.STATIC_DRAW);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.arrows.vertex);
    gl.bufferData(gl.ARRAY_BUFFER, list.used(), gl.DYNAMIC_DRAW);
    gl.vertexAttrib1f(2, 0);
    gl.vertexAttrib3f(3, 0, 0, 0);
    gl.vertexAttrib4f(4, 1, 0, 0, 0);
    gl.vertexAttrib4f(5, 1, 1, 1, 0);
    gl.drawElements(gl.TRIANGLES, list.n * list.corners, gl.UNSIGNED_INT, 0);
  }

  makeShadows() {
    const gl = this.gl;
    this.depths = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.depths);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOWS, SHADOWS);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    this.target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depths, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /* Programs for a pattern and so many samples of the shadow, made when they are first asked for. */
  made(name, make) {
    if (!this.programs.has(name)) this.programs.set(name, make());
    return this.programs.get(name);
  }
  solid(pattern, samples) { return this.made(`solid ${pattern} ${samples}`, () => program(this.gl, solidVertex, solidFragment(pattern, samples))); }
  plane(samples) { return this.made(`plane ${samples}`, () => program(this.gl, planeVertex, planeFragment(samples))); }

  /* `begin` chooses what draws a pattern. */
  things(heap, begin) {
    const gl = this.gl;
    for (const [name, h] of heap.of) {
      if (!h.n) continue;
      const f = this.forms.get(name);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
      gl.bufferData(gl.ARRAY_BUFFER, h.data.subarray(0, h.n * INSTANCE), gl.DYNAMIC_DRAW);
      begin(PATTERN[name.replace(/[0-9]+$/, "")] || 0);
      gl.bindVertexArray(f.array);
      gl.drawElementsInstanced(gl.TRIANGLES, f.n, gl.UNSIGNED_INT, 0, h.n);
    }
  }

  /* What the light sees of a heap, from a box around `target`. */
  shadows(heap, target, radius) {
    const gl = this.gl;
    this.light = product(parallel(radius, 4 * radius), lookAt(add(target, SUN, 2 * radius), target, [0, 1, 0]));
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.viewport(0, 0, SHADOWS, SHADOWS);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 4);
    gl.useProgram(this.depth.p);
    gl.uniformMatrix4fv(this.depth.at.view, false, this.light);
    this.things(heap, () => {});
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  use(used, look, opacity = 1) {
    const gl = this.gl, at = used.at;
    gl.useProgram(used.p);
    gl.uniformMatrix4fv(at.view, false, look.matrix);
    if (at.light) gl.uniformMatrix4fv(at.light, false, this.light);
    if (at.eye) gl.uniform3fv(at.eye, look.eye);
    if (at.sun) gl.uniform3fv(at.sun, SUN);
    if (at.sky) gl.uniform3fv(at.sky, look.theme.sky);
    if (at.ground) gl.uniform3fv(at.ground, look.theme.ground);
    if (at.texel) gl.uniform1f(at.texel, 1 / SHADOWS);
    if (at.opacity) gl.uniform1f(at.opacity, opacity);
    if (at.cell) gl.uniform1f(at.cell, look.cell);
  }

  planes(list, look) {
    const gl = this.gl, used = this.plane(look.samples), at = used.at;
    this.use(used, look);
    gl.bindVertexArray(this.quad);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    for (const s of list) {
      const own = turn(inverse(s.quat), add(look.target, s.pos, -1)), normal = turn(s.quat, [0, 0, 1]);
      if (dot(normal, add(look.eye, s.pos, -1)) <= 0) continue;
      gl.uniform3fv(at.pos, s.pos);
      gl.uniform4fv(at.quat, s.quat);
      gl.uniform2f(at.middle, own[0], own[1]);
      gl.uniform1f(at.reach, look.reach);
      gl.uniform1f(at.cell, look.cell);
      gl.uniform1f(at.solid, s.ghost ? 0 : 1);
      gl.uniform1f(at.dark, look.theme.dark);
      gl.uniform3fv(at.normal, normal);
      gl.uniform3fv(at.floor_, look.theme.floor);
      gl.uniform3fv(at.line, look.theme.line);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  solids(heap, look) {
    this.things(heap, pattern => this.use(this.solid(pattern, look.samples), look));
  }

  /* Seen through, but for what they hide of themselves. */
  ghosts(heap, look) {
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.colorMask(false, false, false, false);
    this.solids(heap, look);
    gl.colorMask(true, true, true, true);
    gl.depthFunc(gl.LEQUAL);
    this.solids(heap, look);
    gl.disable(gl.BLEND);
  }

  /* Seen also where something is before them, fainter. */
  marks(dots, arrows, look) {
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    for (const [depth, opacity] of [[gl.GREATER, 0.45], [gl.LEQUAL, 1]]) {
      gl.depthFunc(depth);
      gl.depthMask(depth === gl.LEQUAL);
      this.use(this.solid(0, 0), look, opacity);
      this.arrowsOf(arrows);
      this.things(dots, () => {});
    }
    gl.disable(gl.BLEND);
  }

  strokesOf(data, n, width, look) {
    const gl = this.gl;
    if (!n) return;
    this.use(this.lines, look);
    gl.uniform2f(this.lines.at.pixels, look.width / 2, look.height / 2);
    gl.uniform1f(this.lines.at.width, width / 2);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.strokes);
    gl.bufferData(gl.ARRAY_BUFFER, data.subarray(0, 10 * n), gl.DYNAMIC_DRAW);
    gl.bindVertexArray(this.quad);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    gl.depthFunc(gl.LEQUAL);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, n);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  begin(canvas, colour) {
    const gl = this.gl;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(colour[0], colour[1], colour[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.depths);
  }
}
