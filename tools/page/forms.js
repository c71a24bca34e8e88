/* forms.js -- shapes as triangles. */

/* A form of vertices (x y z, normal, end): `end` is moved along z by the fourth number of a size, for capsules. */
function form(points, triangles) {
  return {vertex: new Float32Array(points.flat()), index: new Uint32Array(triangles.flat())};
}
function boxForm() {
  const points = [], triangles = [];
  for (let axis = 0; axis < 3; axis++)
    for (const side of [-1, 1]) {
      const at = points.length;
      for (const [s, t] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const p = [0, 0, 0], n = [0, 0, 0];
        p[axis] = n[axis] = side;
        p[(axis + 1) % 3] = s;
        p[(axis + 2) % 3] = t * side;
        points.push([...p, ...n, 0]);
      }
      triangles.push([at, at + 1, at + 2], [at, at + 2, at + 3]);
    }
  return form(points, triangles);
}
/* A curve (radius, z, normal's radius, normal's z, end) turned about z. */
function turned(profile, around) {
  const points = [], triangles = [], rows = profile.length;
  for (let i = 0; i <= around; i++) {
    const c = Math.cos(2 * Math.PI * i / around), s = Math.sin(2 * Math.PI * i / around);
    for (const [r, z, nr, nz, end] of profile) points.push([r * c, r * s, z, nr * c, nr * s, nz, end]);
    for (let k = 0; i < around && k + 1 < rows; k++) {
      const a = i * rows + k, b = a + rows;
      triangles.push([a, b, b + 1], [a, b + 1, a + 1]);
    }
  }
  return form(points, triangles);
}
function roundProfile(n) {
  const profile = [];
  for (let k = 0; k <= n; k++) {
    const angle = Math.PI * (k / n - 0.5), r = Math.cos(angle), z = Math.sin(angle);
    if (2 * k === n) profile.push([r, z, r, z, -1]);
    profile.push([r, z, r, z, 2 * k < n ? -1 : 1]);
  }
  return profile;
}
const cylinderProfile = [[0, -1, 0, -1, 0], [1, -1, 0, -1, 0], [1, -1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 0, 1, 0],
  [0, 1, 0, 1, 0]];
const coneProfile = [[0, 0, 0, -1, 0], [1, 0, 0, -1, 0], [1, 0, 0.9, 0.4, 0], [0, 1, 0.9, 0.4, 0]];
/* Triangles of a mesh, each with its own normal. */
function faceted(vertex, index) {
  const points = [], triangles = [];
  for (let i = 0; i < index.length; i += 3) {
    const p = [0, 1, 2].map(k => [...vertex.subarray(3 * index[i + k], 3 * index[i + k] + 3)]);
    const n = unit(cross(add(p[1], p[0], -1), add(p[2], p[0], -1)));
    for (const q of p) points.push([...q, ...n, 0]);
    triangles.push([i, i + 1, i + 2]);
  }
  return form(points, triangles);
}
