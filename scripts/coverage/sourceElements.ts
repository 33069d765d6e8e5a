import ts from 'typescript';

/** A range of a source file, in characters from its beginning. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /**
   * Index of an earlier span that runs at least as often: its count limits the count of this span. V8 reports the code
   * after an `if` that returns as a range with its own count, but ends this range at the next sibling range, such as an
   * arm of a later `?:`. The code after that arm gets the higher count of the surrounding block
   * (RewritePositionSingletonsToRanges in https://github.com/v8/v8/blob/main/src/debug/debug-coverage.cc).
   */
  readonly limit?: number;
}

/**
 * One arm of a branch. It counts as taken if its code ran. An arm without code counts as taken if `span` ran more often
 * than `skipped` in one process or thread. `span` then runs whenever the decision is made: it is the left operand of a
 * short circuit, or the `if` or a statement around it.
 */
export interface Arm {
  /** 1-based line of the decision. */
  readonly line: number;
  /** Index into `spans`. */
  readonly span: number;
  /** Index of the other arm's span, for an arm without code: a missing `else`, a short circuit. */
  readonly skipped?: number;
}

/** Lines and branches that the report counts in one source file. */
export interface SourceElements {
  readonly spans: readonly Span[];
  /** 1-based lines on which a statement starts, with the statements' indices into `spans`. */
  readonly lines: ReadonlyMap<number, readonly number[]>;
  readonly arms: readonly Arm[];
  /** Offset of each line's first character. */
  readonly lineStarts: readonly number[];
}

const LOGICAL = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** Nodes without compiled code, or with declarations that run when their module is loaded. */
const NOT_RUN = new Set([
  ts.SyntaxKind.Block,
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.EmptyStatement,
  ts.SyntaxKind.ExportDeclaration,
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.ImportDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.LabeledStatement,
  ts.SyntaxKind.ModuleDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
]);

const isDeclared = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) ?? false);

const isStatementList = (node: ts.Node): boolean => ts.isBlock(node) || ts.isCaseOrDefaultClause(node);

/**
 * Returns whether code has its own count or is in a loop. The surrounding statement then does not limit how often it
 * runs.
 */
const isCountedSeparately = (node: ts.Node): boolean =>
  ts.isFunctionLike(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isCaseOrDefaultClause(node) ||
  ts.isCatchClause(node) ||
  ts.isIterationStatement(node.parent, false) ||
  (ts.isTryStatement(node.parent) && node === node.parent.finallyBlock) ||
  (ts.isIfStatement(node.parent) && node !== node.parent.expression);

/**
 * Finds the lines and branches of a TypeScript file. They are derived from the syntax, since V8 reports no branches of
 * functions that never ran. Lines are those on which a statement, the body of an arrow function or the value of a class
 * field starts. Branches are the arms of `if`, `?:`, `switch`, `&&`, `||` and `??`.
 */
export function findElements(path: string, text: string): SourceElements {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const spans: Span[] = [];
  const lines = new Map<number, number[]>();
  const arms: Arm[] = [];
  const lineOf = (node: ts.Node): number => file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
  const addSpan = (node: ts.Node, limit?: number): number =>
    spans.push({ start: node.getStart(file), end: node.end, ...(limit !== undefined && { limit }) }) - 1;
  // Compilers map the statements of a block, but not always its brace.
  const addBody = (node: ts.Statement): number => addSpan((ts.isBlock(node) ? node.statements[0] : undefined) ?? node);
  const addLine = (node: ts.Node, limit?: number): number => {
    const line = lineOf(node);
    const span = addSpan(node, limit);
    lines.set(line, [...(lines.get(line) ?? []), span]);
    return span;
  };

  /** @param outer the innermost span that runs at least as often, if one is known */
  const addBranches = (node: ts.Node, outer: number | undefined): void => {
    const line = lineOf(node);
    if (ts.isIfStatement(node)) {
      const then = addBody(node.thenStatement);
      arms.push({ line, span: then });
      if (node.elseStatement) arms.push({ line, span: addBody(node.elseStatement) });
      else arms.push({ line, span: outer ?? addSpan(node), skipped: then });
    } else if (ts.isConditionalExpression(node)) {
      arms.push({ line, span: addSpan(node.whenTrue) }, { line, span: addSpan(node.whenFalse) });
    } else if (ts.isCaseOrDefaultClause(node)) {
      arms.push({ line, span: addSpan(node) });
    } else if (ts.isBinaryExpression(node) && LOGICAL.has(node.operatorToken.kind)) {
      const right = addSpan(node.right);
      arms.push({ line, span: right }, { line, span: addSpan(node.left, outer), skipped: right });
    }
  };
  /** @returns the span of a statement that counts as a line */
  const visit = (node: ts.Node, limit: number | undefined): number | undefined => {
    if (ts.isTypeNode(node) || isDeclared(node)) return undefined;
    let line: number | undefined;
    if (ts.isStatement(node) && !NOT_RUN.has(node.kind)) line = addLine(node, limit);
    else if (ts.isPropertyDeclaration(node) && node.initializer) addLine(node.initializer);
    else if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) addLine(node.body);
    let outer = line ?? limit;
    addBranches(node, outer);
    ts.forEachChild(node, (child) => {
      const previous = visit(child, isCountedSeparately(child) ? undefined : outer);
      // A statement runs at most as often as the previous one of its block.
      if (isStatementList(node)) outer = previous ?? outer;
    });
    return line;
  };
  ts.forEachChild(file, (statement) => void visit(statement, undefined));
  return { spans, lines, arms, lineStarts: file.getLineStarts() };
}
