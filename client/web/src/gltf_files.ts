// A .gltf and the files that it names, as one file.

const MOST_BYTES = 2 ** 28; // of the files that it names: their text must fit into one string

interface Named {
  uri?: unknown;
  extensions?: {EXT_meshopt_compression?: {fallback?: boolean}};
}

// The name of a URI without folders; '' = the bytes are in the .gltf, or nowhere.
function nameOf({uri, extensions}: Named): string {
  if (typeof uri !== 'string' || /^data:/i.test(uri) || extensions?.EXT_meshopt_compression?.fallback) return '';
  let path = uri;
  try {
    path = decodeURIComponent(uri);
  } catch {
    // It is no escape, so it is part of the name.
  }
  return path.split(/[\\/]/).pop()!;
}

async function dataUri(file: File): Promise<string> {
  const reader = new FileReader();
  await new Promise((resolve, reject) => {
    reader.onload = resolve;
    reader.onerror = () => reject(new Error(`${file.name}: cannot be read.`));
    reader.readAsDataURL(file);
  });
  return reader.result as string;
}

// `file` with the buffers and images that are among the files beside it in it. One that needs none, or cannot be parsed, stays as it is.
// A missing buffer is an error; a missing image is not, the character is shown without it.
export async function withSideFiles(file: File, beside: File[]): Promise<File> {
  let document: {buffers?: Named[]; images?: Named[]};
  try {
    document = JSON.parse(await file.text());
  } catch {
    return file;
  }
  const list = (of: unknown): Named[] => Array.isArray(of) ? of.filter((one) => typeof one === 'object' && one !== null) : [];
  const [buffers, images] = [list(document?.buffers), list(document?.images)];
  const files = new Map(beside.map((one) => [one.name, one]));
  const missing = buffers.map(nameOf).filter((name) => name && !files.has(name));
  if (missing.length) throw new Error(`${file.name}: drop it together with ${[...new Set(missing)].join(', ')}.`);
  const needed = [...buffers, ...images].filter((one) => files.has(nameOf(one)));
  if (!needed.length) return file;
  const uris = new Map<string, unknown>();
  for (const one of needed) {
    const name = nameOf(one);
    if ((uris.get(name) ?? one.uri) !== one.uri) throw new Error(`${file.name}: names files of different folders ${name}. Open a .glb instead.`);
    uris.set(name, one.uri);
  }
  const bytes = [...uris.keys()].reduce((sum, name) => sum + files.get(name)!.size, 0);
  if (bytes > MOST_BYTES) throw new Error(`${file.name}: got ${bytes} bytes beside it, need at most ${MOST_BYTES}. Open a .glb instead.`);
  const texts = new Map<string, string>();
  for (const name of uris.keys()) texts.set(name, await dataUri(files.get(name)!));
  for (const one of needed) one.uri = texts.get(nameOf(one))!;
  return new File([JSON.stringify(document)], file.name);
}
