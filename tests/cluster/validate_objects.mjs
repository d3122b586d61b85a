// Checks Kubernetes objects against the schemas of the npm packages kubernetes-models, offline. An unknown field is an
// error.
//
// usage: node validate_objects.mjs PACKAGES <objects.json    PACKAGES: folder with node_modules
// Prints findings, one a line, and exits with 1 if there are any.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const objects = JSON.parse(readFileSync(0, "utf8"));

// The check of an object's kind; in the package, apps/v1 StatefulSet is IoK8sApiAppsV1StatefulSet.
async function validator({ apiVersion, kind }) {
  const [version, group = "core"] = apiVersion.split("/").reverse();
  const upper = (word) => word[0].toUpperCase() + word.slice(1);
  const kubernetes = group !== "monitoring.coreos.com";
  const operator = "ComGithubPrometheusOperatorPrometheusOperatorPkgApisMonitoring";
  const name = kubernetes ? `IoK8sApi${upper(group.split(".")[0])}` : operator;
  const folder = kubernetes ? "kubernetes-models" : "@kubernetes-models/prometheus-operator";
  const file = `${process.argv[2]}/node_modules/${folder}/_schemas/${name}${upper(version)}${kind}.js`;
  try {
    const { validate } = await import(pathToFileURL(file));
    return (object, errors) => {
      if (validate(object)) return;
      for (const { instancePath, keyword, params } of validate.errors) {
        errors.push(`${instancePath} ${keyword} ${JSON.stringify(params)}`);
      }
    };
  } catch (error) {
    return (_, errors) => errors.push(`no schema: ${error.message}`);
  }
}

// The validators are compiled and ignore fields that they do not know. They read every field that they do know, also
// absent ones, so an object records what is read of it: what is there and not read is unknown. An object of which
// nothing is read has any form.
function recorded(value, path, records) {
  if (value === null || typeof value !== "object") return value;
  const record = { path, value, read: new Set() };
  records.push(record);
  const parts = Array.isArray(value) ? [] : {};
  for (const [key, part] of Object.entries(value)) parts[key] = recorded(part, `${path}/${key}`, records);
  return new Proxy(parts, {
    get(target, key) {
      record.read.add(key);
      return target[key];
    },
  });
}

let findings = 0;
for (const object of objects) {
  const errors = [];
  const records = [];
  (await validator(object))(recorded(object, "", records), errors);
  for (const { path, value, read } of records) {
    if (Array.isArray(value) || read.size === 0) continue;
    for (const key of Object.keys(value)) if (!read.has(key)) errors.push(`${path}/${key} is not a field`);
  }
  for (const error of errors) console.log(`${object.kind} ${object.metadata?.name}: ${error}`);
  findings += errors.length;
}
process.exit(findings ? 1 : 0);
