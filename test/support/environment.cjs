/**
 * Jest's environment without a context of its own: suites run in the realm of their process, as the service does, so
 * that they can share what they load (test/support/runtime.cjs). Globals and the environment's variables are put back
 * after each suite. There are no fake timers: Jest's would be those of the context that is not used.
 */
const v8 = require('node:v8');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

/** Jest names a context wherever it makes a module: this one stands for none. */
const NONE = vm.createContext({});
const withoutNone = ({ context, parsingContext, ...options }) => {
  return { ...options, ...(context !== NONE && { context }), ...(parsingContext !== NONE && { parsingContext }) };
};
const { SourceTextModule, SyntheticModule, compileFunction } = vm;

/** What V8 made of the modules that earlier suites of this process have loaded: half the time of loading them. */
const compiled = new Map();
/** What comes from there would still import by way of the suite that had it first. */
const IMPORTS_LATER = /\bimport\s*\(/;

vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    const known = compiled.get(options.identifier);
    const isKnown = known?.code === code;
    super(code, { ...withoutNone(options), ...(isKnown && { cachedData: known.data }) });
    if (!isKnown && !IMPORTS_LATER.test(code))
      compiled.set(options.identifier, { code, data: this.createCachedData() });
  }
};
vm.SyntheticModule = class extends SyntheticModule {
  constructor(names, evaluate, options) {
    super(names, evaluate, withoutNone(options));
  }
};
vm.compileFunction = (code, names, options) => compileFunction(code, names, withoutNone(options));

/** What tests keep for later suites of their process, by name. */
globalThis.keptForSuites = new Map();

module.exports = class SharedEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.before = Object.getOwnPropertyDescriptors(globalThis);
    this.env = { ...process.env };
    // Jest puts a warning around it for each suite.
    this.exit = process.exit;
    this.global = globalThis;
    this.context = NONE;
    this.fakeTimers = null;
    this.fakeTimersModern = null;
  }

  async teardown() {
    await super.teardown();
    // Jest ends its processes by signals, at which Node writes no coverage (npm run coverage).
    if (process.env.NODE_V8_COVERAGE) v8.takeCoverage();
    process.exit = this.exit;
    for (const name of Object.keys(process.env)) if (!(name in this.env)) delete process.env[name];
    Object.assign(process.env, this.env);
    for (const key of Reflect.ownKeys(globalThis)) {
      const before = this.before[key];
      const now = Object.getOwnPropertyDescriptor(globalThis, key);
      if (!now.configurable) continue;
      if (!before) delete globalThis[key];
      else if (now.value !== before.value || now.get !== before.get) Object.defineProperty(globalThis, key, before);
    }
  }
};
