/**
 * Jest's module loader, save that CommonJS packages are loaded by Node, once for all suites of a process: reading and
 * compiling them anew for each was the greater part of many. Our own modules are each suite's own, and so are packages
 * of ES modules, which are few.
 */
const { createRequire, isBuiltin } = require('node:module');
const path = require('node:path');
const { default: Runtime } = require('jest-runtime');

const PACKAGES = `${path.sep}node_modules${path.sep}`;
/** Made for each suite by Jest itself. */
const JESTS = '@jest/globals';

module.exports = class SharedRuntime extends Runtime {
  requireModuleOrMock(from, moduleName) {
    const isPackage = path.isAbsolute(moduleName)
      ? moduleName.includes(PACKAGES)
      : !moduleName.startsWith('.') && moduleName !== JESTS && !isBuiltin(moduleName);
    return isPackage ? createRequire(from)(moduleName) : super.requireModuleOrMock(from, moduleName);
  }
};
