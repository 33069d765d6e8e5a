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

module.exports = (request, options) => {
  const file = path.resolve(options.basedir, request);
  if (!OURS.test(request) || !isBelow(ROOT, file) || isBelow(DIST, file) || file.includes('node_modules'))
    return options.defaultResolver(request, options);
  const compiled = path.join(DIST, path.relative(ROOT, file));
  return existsSync(compiled) ? compiled : file.replace(/\.js$/, '.ts');
};
