// Cuts GitHub's own API description to the routes that the gate may use and what they refer to, so that prism starts in seconds.
// Usage: node trim.mjs api.github.com.json trimmed.json
import { readFileSync, writeFileSync } from "node:fs";

const [source, target] = process.argv.slice(2);
const whole = JSON.parse(readFileSync(source, "utf8"));

const repository = "/repos/{owner}/{repo}";
const routes = {
  [`${repository}`]: ["get"],
  [`${repository}/issues`]: ["get", "post"],
  [`${repository}/issues/{issue_number}`]: ["get", "patch"],
  [`${repository}/issues/{issue_number}/comments`]: ["get", "post"],
  [`${repository}/issues/comments/{comment_id}`]: ["get", "patch"],
  [`${repository}/statuses/{sha}`]: ["post"],
  [`${repository}/pulls`]: ["get"],
  [`${repository}/pulls/{pull_number}`]: ["get"],
  [`${repository}/commits`]: ["get"],
  [`${repository}/commits/{ref}`]: ["get"],
  [`${repository}/commits/{commit_sha}/pulls`]: ["get"],
  [`${repository}/compare/{basehead}`]: ["get"],
  [`${repository}/git/ref/{ref}`]: ["get"],
  [`${repository}/git/refs`]: ["post"],
  [`${repository}/git/refs/{ref}`]: ["patch"],
  [`${repository}/git/blobs`]: ["post"],
  [`${repository}/git/blobs/{file_sha}`]: ["get"],
  [`${repository}/git/trees`]: ["post"],
  [`${repository}/git/trees/{tree_sha}`]: ["get"],
  [`${repository}/git/commits`]: ["post"],
  [`${repository}/git/commits/{commit_sha}`]: ["get"],
  "/user": ["get"],
};

// A path parameter of OpenAPI is one segment, while these hold refs with slashes.
const spelled = {
  [`${repository}/git/ref/{ref}`]: `${repository}/git/ref/heads/{ref}`,
  [`${repository}/git/refs/{ref}`]: `${repository}/git/refs/heads/{ref}`,
};

const trimmed = { openapi: whole.openapi, info: whole.info, servers: whole.servers, paths: {}, components: {} };
const wanted = [];
for (const [route, methods] of Object.entries(routes)) {
  const item = whole.paths[route];
  if (!item) throw new Error(`the description has no ${route}`);
  const kept = {};
  for (const key of Object.keys(item)) if (!/^(get|post|put|patch|delete)$/.test(key) || methods.includes(key)) kept[key] = item[key];
  trimmed.paths[spelled[route] ?? route] = kept;
  wanted.push(kept);
}

// Everything that is referred to, and what that refers to.
const references = (node, found) => {
  if (Array.isArray(node)) for (const child of node) references(child, found);
  else if (node && typeof node === "object") {
    if (typeof node.$ref === "string") found.push(node.$ref);
    for (const child of Object.values(node)) references(child, found);
  }
  return found;
};
const seen = new Set();
while (wanted.length) {
  for (const reference of references(wanted.pop(), [])) {
    if (seen.has(reference)) continue;
    seen.add(reference);
    const [kind, name] = reference.replace("#/components/", "").split("/");
    const part = whole.components[kind][name];
    (trimmed.components[kind] ??= {})[name] = part;
    wanted.push(part);
  }
}

// What GitHub's media type carries is what the description lists as application/json.
const alias = (node) => {
  if (!node || typeof node !== "object") return;
  const content = node.content;
  if (content?.["application/json"]) content["application/vnd.github+json"] ??= content["application/json"];
  for (const child of Object.values(node)) alias(child);
};
alias(trimmed);
writeFileSync(target, JSON.stringify(trimmed));

// The bodies that the fake starts from are the description's own examples.
const examples = {};
for (const name of ["issue-comment", "pull-request", "commit-comparison", "commit-items", "status", "git-ref", "git-commit", "git-tree", "blob", "full-repository", "pull-request-items", "issue"]) {
  const example = whole.components.examples[name] ?? whole.components.examples[`${name}-default-response`];
  if (example) examples[name] = example.value;
}
writeFileSync(`${target}.examples.json`, JSON.stringify(examples));
console.log(Object.keys(trimmed.paths).length, "routes;", Object.keys(examples).join(" "));
