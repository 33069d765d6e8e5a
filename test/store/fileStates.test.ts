import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import ts from 'typescript';

const STORE = fileURLToPath(new URL('../../store', import.meta.url));
/** Source files that are not checked: the `syncStatus` of data sources is another field. */
const OTHERS = /^dataSources\//;
const INSERTS = /^insert(?:Rows|Once|Many|One)$/;

/** Declarations and imports of a source file by name, and the expressions written to MongoDB. */
interface Parsed {
  readonly declared: Map<string, ts.Node>;
  readonly imported: Set<string>;
  readonly written: ts.Node[];
}

const parse = (file: string, text: string): Parsed => {
  const parsed: Parsed = { declared: new Map(), imported: new Set(), written: [] };
  const visit = (node: ts.Node): void => {
    if (ts.isImportSpecifier(node)) parsed.imported.add(node.name.text);
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      parsed.declared.set(node.name.text, node.initializer);
    if (ts.isFunctionDeclaration(node) && node.name) parsed.declared.set(node.name.text, node);
    if (ts.isPropertyAssignment(node) && /^\$set(?:OnInsert)?$|^replacement$/.test(node.name.getText()))
      parsed.written.push(node.initializer);
    if (ts.isCallExpression(node)) {
      const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
      if (INSERTS.test(called.getText())) parsed.written.push(...node.arguments);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return parsed;
};

/** Returns the expressions that a function may return. */
const returned = (body: ts.Node): ts.Node[] => {
  if (!ts.isBlock(body)) return [body];
  const expressions: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression) expressions.push(node.expression);
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(body, visit);
  return expressions;
};

/** Returns the direct parts of an expression from which its value can come. */
function partsOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isObjectLiteralExpression(node)) return node.properties.filter(ts.isSpreadAssignment);
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse];
  if (ts.isBinaryExpression(node)) return [node.left, node.right];
  if (ts.isArrayLiteralExpression(node)) return node.elements;
  if (ts.isFunctionLike(node)) return 'body' in node && node.body ? returned(node.body) : [];
  // Records are created by functions passed to array methods, or called by name.
  if (ts.isCallExpression(node))
    return ts.isIdentifier(node.expression)
      ? [node.expression]
      : [node.expression, ...node.arguments.filter(ts.isArrowFunction)];
  const wraps =
    ts.isSpreadAssignment(node) ||
    ts.isSpreadElement(node) ||
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isAwaitExpression(node) ||
    ts.isPropertyAccessExpression(node);
  return wraps ? [node.expression] : [];
}

/** Returns where `syncStatus` is written, directly or through a name that is declared in the file or imported. */
function writesOfState(texts: ReadonlyMap<string, string>): string[] {
  const files = new Map([...texts].map(([file, text]) => [file, parse(file, text)]));
  const exported = new Map([...files.values()].flatMap(({ declared }) => [...declared]));
  const places = new Set<string>();
  const visited = new Set<ts.Node>();
  const follow = (node: ts.Node): void => {
    if (visited.has(node)) return;
    visited.add(node);
    const source = node.getSourceFile();
    if (ts.isObjectLiteralExpression(node))
      for (const property of node.properties)
        if (property.name?.getText() === 'syncStatus')
          places.add(`${source.fileName}:${source.getLineAndCharacterOfPosition(property.getStart()).line + 1}`);
    if (ts.isIdentifier(node)) {
      const parsed = files.get(source.fileName);
      const value =
        parsed?.declared.get(node.text) ?? (parsed?.imported.has(node.text) ? exported.get(node.text) : undefined);
      if (value) follow(value);
    }
    partsOf(node).forEach(follow);
  };
  for (const { written } of files.values()) written.forEach(follow);
  return [...places];
}

const sources = (): Map<string, string> =>
  new Map(
    readdirSync(STORE, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !OTHERS.test(file) && file !== 'files/transitions.ts')
      .map((file) => [file, readFileSync(path.join(STORE, file), 'utf8')]),
  );

test('only store/files/transitions.ts writes the state of a file', () => {
  expect(writesOfState(sources())).toEqual([]);
});

test.each([
  ['in the update', `files.updateOne({}, { $set: { syncStatus: 'READY' } });`],
  ['by a constant', `const READY = { syncStatus: 'READY' }; files.updateOne({}, { $set: { ...READY } });`],
  ['by a function', `const rest = () => ({ syncStatus: 'READY' }); files.updateMany({}, { $set: rest() });`],
  ['as a new record', `function row() { return { syncStatus }; } insertRows(files, [row()]);`],
])('finds a state written %s', (_how, text) => {
  expect(writesOfState(new Map([['files/other.ts', text]]))).toHaveLength(1);
});

test('a state in a filter does not count as a write', () => {
  const text = `const ready = { syncStatus: 'READY' }; files.updateMany(ready, { $set: { cleanupPending: false } });`;
  expect(writesOfState(new Map([['files/other.ts', text]]))).toEqual([]);
});
