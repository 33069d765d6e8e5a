/**
 * Jest's resolver: what runs in production is tested as it runs there, compiled, from dist/. Everything else of ours
 * (engines, scripts, tests) is TypeScript. The global setup has brought dist/ up to date.
 */
const { existsSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '../..');
const DIST = path.join(ROOT, 'dist');
const OURS = /^\.{1,2}\/.*\.js$/;
const isBelow = (folder, file) => file.startsWith(folder + path.sep);

function resolve(request, options) {
  const file = path.resolve(options.basedir, request);
  if (!OURS.test(request) || !isBelow(ROOT, file) || isBelow(DIST, file) || file.includes('node_modules'))
    return options.defaultResolver(request, options);
  const compiled = path.join(DIST, path.relative(ROOT, file));
  return existsSync(compiled) ? compiled : file.replace(/\.js$/, '.ts');
}

/**
 * Both ways, though they are one: with an `async` of its own Jest loads every module by the loader that runtime.cjs
 * changes. From Node 22.21 on it would load whole graphs by another, with copies of their own of what runs in production.
 */
module.exports = { sync: resolve, async: async (request, options) => resolve(request, options) };
