import { readFile, writeFile } from 'node:fs/promises';

/**
 * Path of the lock. Some packages have optional dependencies that each contain the binaries of one platform. If the
 * registry lacks such a package, npm leaves its entry out of the lock, and `npm ci` rejects the lock as incomplete.
 * `npm run lock:complete` adds the missing entries. Run it after every change of dependencies.
 */
const FILE = new URL('../package-lock.json', import.meta.url);

interface LockEntry {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const OS: readonly (readonly [string, RegExp])[] = [
  ['darwin', /darwin/],
  ['win32', /win32|windows/],
  ['android', /android/],
  ['freebsd', /freebsd/],
  ['openbsd', /openbsd/],
  ['netbsd', /netbsd/],
  ['sunos', /sunos/],
  ['aix', /aix/],
  ['openharmony', /openharmony/],
  ['linux', /linux/],
];
const CPU: readonly (readonly [string, RegExp])[] = [
  ['arm64', /arm64/],
  ['arm', /-arm(?:-|v|$)/],
  ['x64', /x64/],
  ['ia32', /ia32/],
  ['ppc64', /ppc64/],
  ['s390x', /s390x/],
  ['riscv64', /riscv64/],
  ['loong64', /loong64/],
  ['mips64el', /mips64el/],
  ['wasm32', /wasm32/],
];

/** Creates the entry of a platform package, whose name contains the platform. */
function entryOf(name: string, spec: string, dev: boolean | undefined): LockEntry {
  const firstMatch = (table: typeof OS) => table.find(([, pattern]) => pattern.test(name))?.[0];
  const [os, cpu] = [firstMatch(OS), firstMatch(CPU)];
  if (!os && !cpu) throw new Error(`${name} is missing from the lock and is not a platform package: run npm install`);
  const libc = name.includes('musl') ? 'musl' : os === 'linux' && name.includes('gnu') ? 'glibc' : undefined;
  return {
    version: spec.replace(/^[\^~=v]+/, ''),
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(dev ? { dev } : {}),
    ...(libc ? { libc: [libc] } : {}),
    optional: true,
    ...(os ? { os: [os] } : {}),
  };
}

const lock = JSON.parse(await readFile(FILE, 'utf8')) as { packages: Record<string, LockEntry> };
const { packages } = lock;

/** Returns whether Node finds a package from another one, searching from the innermost node_modules outwards. */
const isInstalled = (from: string, name: string): boolean => {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${base === '' ? '' : `${base}/`}node_modules/${name}`]) return true;
    if (base === '') return false;
  }
};

let added = 0;
for (const [from, entry] of Object.entries(packages)) {
  for (const [name, spec] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isInstalled(from, name)) continue;
    packages[`node_modules/${name}`] = entryOf(name, spec, entry.dev);
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
await writeFile(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} entries added`);
