/* algebra.js -- vectors, quaternions w x y z, matrices by columns. z is up. */

const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = a => Math.hypot(a[0], a[1], a[2]);
const unit = a => { const l = length(a) || 1; return [a[0] / l, a[1] / l, a[2] / l]; };
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

function turn(q, v) {
  const u = [q[1], q[2], q[3]], t = cross(u, v), s = cross(u, [t[0] + q[0] * v[0], t[1] + q[0] * v[1], t[2] + q[0] * v[2]]);
  return [v[0] + 2 * s[0], v[1] + 2 * s[1], v[2] + 2 * s[2]];
}
const inverse = q => [q[0], -q[1], -q[2], -q[3]];
const times = (a, b) => [
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]];
/* The rotation that takes z to a direction. */
function alongZ(d) {
  if (d[2] < -0.999999) return [0, 1, 0, 0];
  const w = 1 + d[2], l = Math.hypot(w, d[0], d[1]);
  return [w / l, -d[1] / l, d[0] / l, 0];
}

function product(a, b) {
  const m = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      for (let k = 0; k < 4; k++) m[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return m;
}
function lookAt(eye, target, up) {
  const z = unit(add(eye, target, -1)), x = unit(cross(up, z)), y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0,
    -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}
function perspective(slope, aspect, near, far) {
  return new Float32Array([1 / (slope * aspect), 0, 0, 0, 0, 1 / slope, 0, 0, 0, 0, (far + near) / (near - far), -1,
    0, 0, 2 * far * near / (near - far), 0]);
}
function parallel(r, depth) {
  return new Float32Array([1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, -1 / depth, 0, 0, 0, 0, 1]);
}
