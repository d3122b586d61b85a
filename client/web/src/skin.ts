// The character on the GPU: attributes are the bytes of a frame as they came, the vertex shader decodes them.

import {BufferAttribute, BufferGeometry, CanvasTexture, Color, DoubleSide, DynamicDrawUsage, FrontSide, LineBasicMaterial,
  LineSegments, Mesh, MeshDepthMaterial, MeshStandardMaterial, RGBADepthPacking, SRGBColorSpace, Vector3, type IUniform,
  type Material, type Object3D, type Texture} from 'three';
import type {PosedMuscle} from '@proto/frame_pb';
import {Muscles, Normals} from './marks.ts';
import type {Paint} from './paint.ts';
import type {Shape} from './shape.ts';
import {statusColours} from './status.ts';

export type Overlay = 'none' | 'distance' | 'weight' | 'status' | 'paint';

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
    overlay: {value: 0}, scale: {value: 1}, ramp: {value: null as CanvasTexture | null}, back: {value: new Color('#1ea0aa')}, seeThrough: {value: false}, images: {value: null as Texture | null},
  };
  #geometry = new BufferGeometry();
  #edgeGeometry = new BufferGeometry();
  #normal: BufferAttribute;
  #tint: BufferAttribute;
  #material: MeshStandardMaterial;
  #normals: Normals | null = null;
  #muscles: Muscles | null = null;
  #shape: Shape | null = null;

  constructor(private readonly vertices: number, index: BufferAttribute, ramp: CanvasTexture) {
    this.position = new BufferAttribute(new Uint16Array(vertices * 3), 3);
    this.#normal = new BufferAttribute(new Int8Array(vertices * 2), 2);
    this.#tint = new BufferAttribute(new Uint8Array(vertices * 4), 4, true);
    for (const attribute of [this.position, this.#normal, this.#tint]) attribute.setUsage(DynamicDrawUsage);
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
  show(shape: Shape): void {
    const {positions, normals, origin, step, status, muscles} = this.#shape = shape;
    this.position.array = positions;
    this.#normal.array = normals;
    this.position.needsUpdate = this.#normal.needsUpdate = true;
    this.uniforms.qOrigin.value.fromArray(origin);
    this.uniforms.qStep.value.fromArray(step);
    if (this.#normals?.lines.visible) this.#normals.show(shape);
    if (status) {
      if (!this.#geometry.hasAttribute('tint')) this.#geometry.setAttribute('tint', this.#tint);
      this.#tint.array = statusColours(status);
      this.#tint.needsUpdate = true;
    }
    this.#showMuscles(muscles);
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

  set paint({colours, uvs, images}: Paint) {
    this.#geometry.setAttribute('base', new BufferAttribute(colours, 4, true));
    this.#geometry.setAttribute('place', new BufferAttribute(uvs, 3));
    this.uniforms.images.value = images;
  }

  set overlay(overlay: Overlay) {
    this.uniforms.overlay.value = {none: 0, distance: 1, weight: 2, status: 3, paint: 4}[overlay];
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

  set normals(visible: boolean) {
    if (visible && !this.#normals) {
      this.#normals = new Normals(this.vertices, DECODE, this.uniforms);
      this.object.add(this.#normals.lines);
    }
    if (!this.#normals) return;
    this.#normals.lines.visible = visible;
    if (visible && this.#shape) this.#normals.show(this.#shape);
  }

  // Muscles under a translucent skin; none = the skin is solid.
  #showMuscles(muscles: PosedMuscle[]): void {
    const seen = muscles.length > 0;
    if (seen && !this.#muscles) {
      this.#muscles = new Muscles(muscles.length);
      this.object.add(this.#muscles.mesh);
    }
    this.#muscles?.show(muscles);
    if (this.#material.transparent === seen) return;
    this.#material.transparent = this.uniforms.seeThrough.value = seen;
    this.#material.side = seen ? FrontSide : DoubleSide; // the far side of the skin would cover muscles
    this.#material.needsUpdate = true;
  }

  #decoding<M extends Material>(material: M): M {
    material.customProgramCacheKey = () => `sinew ${material.type}`;
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms as Record<string, IUniform>);
      shader.vertexShader = `${DECODE}
        uniform int overlay; uniform float scale; varying float heat;
        #ifdef STANDARD
        attribute vec3 position2; attribute float weight; attribute vec3 tint; attribute vec3 base; attribute vec3 place;
        varying vec3 shownTint; varying vec3 imagePlace;
        #endif
        ${shader.vertexShader}`
        .replace('#include <begin_vertex>', `
        vec3 transformed = positionOf(position);
        heat = 0.0;
        #ifdef STANDARD
        if (overlay == 1) heat = distance(transformed, qOrigin2 + qStep2 * position2) / scale;
        if (overlay == 2) heat = weight;
        shownTint = overlay == 4 ? base : tint;
        imagePlace = place;
        #endif`)
        .replace('#include <beginnormal_vertex>', 'vec3 objectNormal = normalOf(normal.xy);');
      if (material.type !== 'MeshStandardMaterial') return;
      shader.fragmentShader = `uniform int overlay; uniform sampler2D ramp; uniform vec3 back; uniform bool seeThrough; varying float heat;
        uniform sampler2DArray images; varying vec3 shownTint; varying vec3 imagePlace;
        ${shader.fragmentShader}`
        .replace('#include <color_fragment>', `
        if (overlay >= 3) {
          diffuseColor.rgb = sRGBTransferEOTF(vec4(shownTint, 1.0)).rgb * (overlay == 4 ? 0.7 : 1.0); // the lights are made for clay
          vec3 texel = texture(images, vec3(imagePlace.xy, floor(max(imagePlace.z, 0.0) + 0.5))).rgb;
          if (overlay == 4 && imagePlace.z > -0.5) diffuseColor.rgb *= texel;
        } else if (overlay > 0) diffuseColor.rgb = texture2D(ramp, vec2(clamp(heat, 0.002, 0.998), 0.5)).rgb;
        bool inside = !gl_FrontFacing;
        #ifndef FLAT_SHADED
        inside = inside && dot(normalize(vNormal), normalize(vViewPosition)) < -0.1; // not a face that turns away at the outline
        #endif
        if (inside) diffuseColor.rgb = back;`)
        .replace('#include <opaque_fragment>', `
        if (seeThrough) { // as studio.cc draws: see-through where it faces the camera
          float grazing = 1.0 - clamp(dot(normal, normalize(vViewPosition)), 0.0, 1.0);
          diffuseColor.a = 0.34 + 0.61 * grazing * grazing * grazing;
        }
        #include <opaque_fragment>`);
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
