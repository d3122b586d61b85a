// The character on the GPU: attributes are the bytes of a frame as they came, the vertex shader decodes them.

import {BufferAttribute, BufferGeometry, CanvasTexture, Color, DoubleSide, DynamicDrawUsage, LineBasicMaterial,
  LineSegments, Mesh, MeshDepthMaterial, MeshStandardMaterial, RGBADepthPacking, SRGBColorSpace, Vector3, type IUniform,
  type Material, type Object3D} from 'three';
import type {Shape} from './slot.ts';

export type Overlay = 'none' | 'distance' | 'weight';

// From clay over orange to dark red, as `sinew render` draws.
export const RAMP = ['#c2b7ab', '#d8b38a', '#e9ac68', '#f79c4a', '#fc8238', '#f55428', '#de221e', '#b60426', '#760026'];

// Position of ENCODING_Q16 and normal of ENCODING_OCT8: see frame.proto.
export const DECODE = `
uniform vec3 qOrigin; uniform vec3 qStep; uniform vec3 qOrigin2; uniform vec3 qStep2;
vec3 positionOf(vec3 q) { return qOrigin + qStep * q; }
vec3 normalOf(vec2 q) {
  vec2 uv = q / 127.0;
  float z = (1.0 - abs(uv.x)) - abs(uv.y);
  float below = z < 0.0 ? -z : 0.0;
  vec3 n = vec3(uv.x < 0.0 ? uv.x + below : uv.x - below, uv.y < 0.0 ? uv.y + below : uv.y - below, z);
  return n / sqrt((n.x * n.x + n.y * n.y) + n.z * n.z);
}
`;

// One shape with the recipes' colours on it.
export class Skin {
  readonly object: Mesh;
  readonly edges: LineSegments;
  readonly position: BufferAttribute;
  readonly uniforms = {
    qOrigin: {value: new Vector3()}, qStep: {value: new Vector3()},
    qOrigin2: {value: new Vector3()}, qStep2: {value: new Vector3()},
    overlay: {value: 0}, scale: {value: 1}, ramp: {value: null as CanvasTexture | null}, back: {value: new Color('#5b7c99')},
  };
  #geometry = new BufferGeometry();
  #edgeGeometry = new BufferGeometry();
  #normal: BufferAttribute;
  #material: MeshStandardMaterial;

  constructor(vertices: number, index: BufferAttribute, ramp: CanvasTexture) {
    this.position = new BufferAttribute(new Uint16Array(vertices * 3), 3);
    this.#normal = new BufferAttribute(new Int8Array(vertices * 2), 2);
    for (const attribute of [this.position, this.#normal]) attribute.setUsage(DynamicDrawUsage);
    this.#geometry.setIndex(index);
    this.#geometry.setAttribute('position', this.position);
    this.#geometry.setAttribute('normal', this.#normal);
    this.#edgeGeometry.setAttribute('position', this.position);
    this.uniforms.ramp.value = ramp;
    this.#material = this.#decoding(new MeshStandardMaterial({
      color: RAMP[0], roughness: 0.75, metalness: 0, side: DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1}));
    this.object = new Mesh(this.#geometry, this.#material);
    this.object.customDepthMaterial = this.#decoding(new MeshDepthMaterial({depthPacking: RGBADepthPacking, side: DoubleSide}));
    this.object.castShadow = true;
    this.edges = new LineSegments(this.#edgeGeometry, this.#decoding(new LineBasicMaterial({color: '#000000', transparent: true, opacity: 0.45})));
    this.edges.visible = false;
    for (const object of [this.object, this.edges] as Object3D[]) object.frustumCulled = false;
    this.object.add(this.edges);
    this.object.visible = false;
  }

  // Takes over the bytes of a shape.
  show({positions, normals, origin, step}: Shape): void {
    this.position.array = positions;
    this.#normal.array = normals;
    this.position.needsUpdate = this.#normal.needsUpdate = true;
    this.uniforms.qOrigin.value.fromArray(origin);
    this.uniforms.qStep.value.fromArray(step);
    this.object.visible = true;
  }

  // Colours the skin by its distance from `other`, whose bytes are shared.
  compare(other: Skin): void {
    this.#geometry.setAttribute('position2', other.position);
    this.uniforms.qOrigin2 = other.uniforms.qOrigin;
    this.uniforms.qStep2 = other.uniforms.qStep;
    this.#material.needsUpdate = true;
  }

  set weights(bytes: Uint8Array) {
    this.#geometry.setAttribute('weight', new BufferAttribute(bytes, 1, true));
  }

  set overlay(overlay: Overlay) {
    this.uniforms.overlay.value = {none: 0, distance: 1, weight: 2}[overlay];
  }

  set flat(flat: boolean) {
    if (this.#material.flatShading === flat) return;
    this.#material.flatShading = flat;
    this.#material.needsUpdate = true;
  }

  showEdges(visible: boolean, pairs: () => BufferAttribute): void {
    if (visible && !this.#edgeGeometry.index) this.#edgeGeometry.setIndex(pairs());
    this.edges.visible = visible;
  }

  #decoding<M extends Material>(material: M): M {
    material.customProgramCacheKey = () => `sinew ${material.type}`;
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms as Record<string, IUniform>);
      shader.vertexShader = `${DECODE}
        uniform int overlay; uniform float scale; varying float heat;
        #ifdef STANDARD
        attribute vec3 position2; attribute float weight;
        #endif
        ${shader.vertexShader}`
        .replace('#include <begin_vertex>', `
        vec3 transformed = positionOf(position);
        heat = 0.0;
        #ifdef STANDARD
        if (overlay == 1) heat = distance(transformed, qOrigin2 + qStep2 * position2) / scale;
        if (overlay == 2) heat = weight;
        #endif`)
        .replace('#include <beginnormal_vertex>', 'vec3 objectNormal = normalOf(normal.xy);');
      shader.fragmentShader = `uniform int overlay; uniform sampler2D ramp; uniform vec3 back; varying float heat;
        ${shader.fragmentShader}`
        .replace('#include <color_fragment>', material.type !== 'MeshStandardMaterial' ? '#include <color_fragment>' : `
        if (overlay > 0) diffuseColor.rgb = texture2D(ramp, vec2(clamp(heat, 0.002, 0.998), 0.5)).rgb;
        if (!gl_FrontFacing) diffuseColor.rgb = back;`);
    };
    return material;
  }
}

export function rampTexture(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = 256;
  canvas.height = 1;
  const context = canvas.getContext('2d')!;
  const gradient = context.createLinearGradient(0, 0, 256, 0);
  RAMP.forEach((colour, k) => gradient.addColorStop(k / (RAMP.length - 1), colour));
  context.fillStyle = gradient;
  context.fillRect(0, 0, 256, 1);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}
