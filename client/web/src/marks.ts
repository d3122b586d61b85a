// What is drawn with a skin: its normals as short lines, and the muscles below it.

import {BufferAttribute, Color, InstancedBufferAttribute, InstancedBufferGeometry, InstancedMesh, LineSegments, Matrix4, MeshStandardMaterial,
  ShaderMaterial, SphereGeometry, SRGBColorSpace, type IUniform} from 'three';
import type {PosedMuscle} from '@proto/frame_pb';
import type {Shape} from './shape.ts';

// A line from each vertex along its normal. `decode` is GLSL with positionOf and normalOf, `uniforms` has what it needs.
export class Normals {
  readonly lines: LineSegments;
  #position: InstancedBufferAttribute;
  #normal: InstancedBufferAttribute;
  #length = {value: 0};

  constructor(vertices: number, decode: string, uniforms: Record<string, IUniform>) {
    this.#position = new InstancedBufferAttribute(new Uint16Array(vertices * 3), 3);
    this.#normal = new InstancedBufferAttribute(new Int8Array(vertices * 2), 2);
    const geometry = new InstancedBufferGeometry();
    geometry.instanceCount = vertices;
    geometry.setAttribute('position', new BufferAttribute(Float32Array.of(0, 0, 0, 1, 0, 0), 3)); // both ends
    geometry.setAttribute('start', this.#position);
    geometry.setAttribute('direction', this.#normal);
    this.lines = new LineSegments(geometry, new ShaderMaterial({
      uniforms: {...uniforms, reach: this.#length, colour: {value: new Color('#1d6b45')}},
      vertexShader: `${decode}
        attribute vec3 start; attribute vec2 direction; uniform float reach;
        void main() {
          vec3 at = positionOf(start) + position.x * reach * normalOf(direction);
          gl_Position = projectionMatrix * modelViewMatrix * vec4(at, 1.0);
        }`,
      fragmentShader: `uniform vec3 colour;
        void main() {
          gl_FragColor = vec4(colour, 1.0);
          #include <colorspace_fragment>
        }`,
    }));
    this.lines.frustumCulled = false;
    this.lines.visible = false;
  }

  // Lines are a part of the size of the shape long.
  show({positions, normals, minimum, maximum}: Shape): void {
    this.#position.array = positions;
    this.#normal.array = normals;
    this.#position.needsUpdate = this.#normal.needsUpdate = true;
    this.#length.value = 0.012 * Math.hypot(...maximum.map((high, k) => high - minimum[k]));
  }
}

// Three reds in turn, as in `sinew render --translucent`. Muscles are drawn a little thinner than they are, so that flat faces of
// the skin do not cut in.
const FLESH = [[118, 34, 52], [146, 58, 68], [92, 24, 44]].map(([r, g, b]) => new Color().setRGB(r / 255, g / 255, b / 255, SRGBColorSpace));
const DRAWN_PART = 0.97;

// Ellipsoids of muscles.
export class Muscles {
  readonly mesh: InstancedMesh;

  constructor(count: number) {
    this.mesh = new InstancedMesh(new SphereGeometry(1, 32, 20), new MeshStandardMaterial({roughness: 0.6}), count);
    for (let m = 0; m < count; m++) this.mesh.setColorAt(m, FLESH[m % FLESH.length]);
    this.mesh.frustumCulled = false;
    this.mesh.count = 0;
  }

  show(muscles: PosedMuscle[]): void {
    this.mesh.count = muscles.length;
    muscles.forEach(({frame: m, radii: [x, y, z]}, k) => {
      const matrix = new Matrix4().set(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], 0, 0, 0, 1);
      matrix.multiply(new Matrix4().makeScale(x * DRAWN_PART, y * DRAWN_PART, z * DRAWN_PART));
      const drawable = matrix.elements.every(Number.isFinite) && Math.min(x, y, z) > 0;
      this.mesh.setMatrixAt(k, drawable ? matrix : new Matrix4().makeScale(0, 0, 0));
    });
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}
