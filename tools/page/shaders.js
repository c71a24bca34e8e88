/* shaders.js -- what a graphics card computes of corners and pixels. */

const turning = `vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }`;
const solidVertex = `#version 300 es
layout(location=0) in vec3 point; layout(location=1) in vec3 normal; layout(location=2) in float end;
layout(location=3) in vec3 pos; layout(location=4) in vec4 quat; layout(location=5) in vec4 size;
layout(location=6) in vec4 colour;
uniform mat4 view, light;
out vec3 where, facing, local, scale; out vec4 lit, paint;
${turning}
void main() {
  vec3 own = point * size.xyz + vec3(0, 0, end * size.w);
  where = turn(quat, own) + pos;
  facing = turn(quat, normalize(normal / size.xyz));
  local = point; scale = size.xyz; paint = colour;
  lit = light * vec4(where, 1);
  gl_Position = view * vec4(where, 1);
}`;
/* How much of the light from above arrives, by 0, 1 or 4 samples of the depths that the light sees; lines of a grid. What is
 * not asked for is not compiled: where a processor draws it would be computed of every pixel. */
const shade = samples => `#version 300 es
#define SAMPLES ${samples}
precision highp float;
uniform highp sampler2DShadow depths; uniform float texel;
float arriving(vec4 lit, float slope) {
#if SAMPLES == 0
  return 1.0;
#else
  vec3 at = lit.xyz / lit.w * 0.5 + 0.5;
  if (any(lessThan(at, vec3(0))) || any(greaterThan(at, vec3(1)))) return 1.0;
  at.z -= 0.0015 + 0.004 * slope;
#if SAMPLES == 1
  return texture(depths, at);
#else
  vec2 a = vec2(1.3, 0.5) * texel, b = vec2(-0.5, 1.3) * texel;
  float sum = texture(depths, at + vec3(a, 0)) + texture(depths, at - vec3(a, 0)) +
    texture(depths, at + vec3(b, 0)) + texture(depths, at - vec3(b, 0));
  return sum * 0.25;
#endif
#endif
}
float grid(vec2 p) {
  vec2 w = fwidth(p), d = abs(fract(p - 0.5) - 0.5);
  vec2 l = 1.0 - smoothstep(0.5 * w, 1.5 * w, d);
  return max(l.x, l.y) * clamp(1.0 - 2.0 * max(w.x, w.y), 0.0, 1.0);
}
vec3 linear(vec3 c) { return c * c; }
vec3 shown(vec3 c) { return sqrt(c); }
`;
const solidFragment = (pattern, samples) => `${shade(samples)}
#define PATTERN ${pattern}
in vec3 where, facing, local, scale; in vec4 lit, paint;
uniform vec3 eye, sun, sky, ground; uniform float opacity, cell;
out vec4 result;
float edge(vec3 p, vec3 size) {
  vec3 inside = (1.0 - abs(p)) * size;
  float a = min(inside.x, min(inside.y, inside.z)), c = max(inside.x, max(inside.y, inside.z));
  float second = inside.x + inside.y + inside.z - a - c, w = 0.035 * min(size.x, min(size.y, size.z));
  float blur = fwidth(second) + 1e-6;
  return 1.0 - smoothstep(w - blur, w + blur, second);
}
void main() {
  vec3 n = normalize(facing), to = normalize(eye - where);
  vec3 base = linear(paint.rgb);
#if PATTERN == 1
  base *= 1.0 - 0.35 * edge(local, scale);
#elif PATTERN == 2
  vec3 s = local / (fwidth(local) + 1e-5);
  float octant = clamp(s.x, -1.0, 1.0) * clamp(s.y, -1.0, 1.0) * clamp(s.z, -1.0, 1.0);
  base *= 0.9 + 0.14 * octant;
#elif PATTERN == 3
  vec2 s = local.xy / (fwidth(local.xy) + 1e-5);
  base *= 0.93 + 0.1 * clamp(s.x, -1.0, 1.0) * clamp(s.y, -1.0, 1.0);
#elif PATTERN == 4
  base *= 1.0 - 0.45 * max(0.5 * grid(where.xy / cell), grid(where.xy / (5.0 * cell)));
#endif
  float d = max(dot(n, sun), 0.0), open = d > 0.0 ? arriving(lit, 1.0 - d) : 0.0;
  vec3 light = mix(ground, sky, 0.5 + 0.5 * n.z) + 1.05 * d * open;
  float gloss = pow(max(dot(n, normalize(sun + to)), 0.0), 40.0) * open;
  float rim = pow(1.0 - max(dot(n, to), 0.0), 4.0);
  vec3 c = base * light + 0.10 * gloss + 0.10 * rim * sky;
  result = vec4(shown(c), 1) * paint.a * opacity;
}`;
const depthFragment = `#version 300 es
precision highp float;
void main() {}`;
const planeVertex = `#version 300 es
layout(location=0) in vec2 corner;
uniform mat4 view, light; uniform vec3 pos; uniform vec4 quat; uniform vec2 middle; uniform float reach;
out vec3 where; out vec2 local; out vec4 lit;
${turning}
void main() {
  local = middle + corner * reach;
  where = turn(quat, vec3(local, 0)) + pos;
  lit = light * vec4(where, 1);
  gl_Position = view * vec4(where, 1);
}`;
const planeFragment = samples => `${shade(samples)}
in vec3 where; in vec2 local; in vec4 lit;
uniform vec3 floor_, line, sun, normal; uniform float cell, reach, solid, dark; uniform vec2 middle;
out vec4 result;
void main() {
  float fade = 1.0 - smoothstep(0.35, 1.0, length(local - middle) / reach);
  float mesh = max(0.35 * grid(local / cell), 0.8 * grid(local / (5.0 * cell)));
  float open = solid > 0.0 ? arriving(lit, 1.0 - abs(dot(sun, normal))) : 1.0;
  vec3 c = mix(floor_, line, mesh) * mix(dark, 1.0, open);
  float alpha = fade * mix(0.7 * mesh, 1.0, solid);
  result = vec4(c, 1) * alpha;
}`;
const lineVertex = `#version 300 es
layout(location=0) in vec2 corner; layout(location=1) in vec3 from; layout(location=2) in vec3 to;
layout(location=3) in vec4 colour;
uniform mat4 view; uniform vec2 pixels; uniform float width;
out vec4 paint;
void main() {
  vec4 a = view * vec4(from, 1), b = view * vec4(to, 1);
  vec2 d = (b.xy / b.w - a.xy / a.w) * pixels;
  d = dot(d, d) > 0.0 ? normalize(d) : vec2(1, 0);
  vec4 p = corner.x < 0.0 ? a : b;
  p.xy += (d * corner.x + vec2(-d.y, d.x) * corner.y) * width / pixels * p.w;
  paint = colour;
  gl_Position = a.w > 0.0 && b.w > 0.0 ? p : vec4(2, 2, 2, 1);
}`;
const lineFragment = `#version 300 es
precision highp float;
in vec4 paint; out vec4 result;
void main() { result = vec4(paint.rgb, 1) * paint.a; }`;
