/**
 * Jest's module loader, save that what suites have in common is loaded by Node, once for all suites of a process:
 * CommonJS packages, and what runs in production (dist/). Reading and compiling these anew for each was the greater
 * part of many. Modules of the tests are each suite's own, and so are packages of ES modules that they import.
 */
const { createRequire, isBuiltin } = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const PACKAGES = `${path.sep}node_modules${path.sep}`;
/** Made for each suite by Jest itself. */
const JESTS = '@jest/globals';
const DIST = path.resolve(__dirname, '../../dist') + path.sep;

/** What production runs as Node has it, by path; each is a module of every suite at once. */
const shared = new Map();

async function load(file) {
  const exported = await import(pathToFileURL(file).href);
  const names = Object.keys(exported);
  const module = new vm.SyntheticModule(
    names,
    function () {
      for (const name of names) this.setExport(name, exported[name]);
    },
    { identifier: file },
  );
  await module.link(() => undefined);
  await module.evaluate();
  return module;
}

module.exports = class SharedRuntime extends Runtime {
  constructor(...given) {
    super(...given);
    const own = this.esmLoader.loadEsmModule.bind(this.esmLoader);
    this.esmLoader.loadEsmModule = (modulePath, suffix = '') => {
      if (suffix !== '' || !modulePath.startsWith(DIST) || !modulePath.endsWith('.js')) return own(modulePath, suffix);
      if (!shared.has(modulePath)) shared.set(modulePath, load(modulePath));
      return shared.get(modulePath);
    };
  }

  requireModuleOrMock(from, moduleName) {
    const isPackage = path.isAbsolute(moduleName)
      ? moduleName.includes(PACKAGES)
      : !moduleName.startsWith('.') && moduleName !== JESTS && !isBuiltin(moduleName);
    return isPackage ? createRequire(from)(moduleName) : super.requireModuleOrMock(from, moduleName);
  }
};
