/** The parts of packages without types of their own that the guide uses. */

declare module '@11ty/eleventy' {
  export interface Token {
    readonly type: string;
    tag: string;
    attrs: [string, string][] | null;
    readonly info: string;
    content: string;
    readonly children: Token[] | null;
    attrGet(name: string): string | null;
    attrSet(name: string, value: string): void;
    attrJoin(name: string, value: string): void;
  }
  export interface State {
    tokens: Token[];
    readonly env: Record<string, unknown>;
    readonly Token: new (type: string, tag: string, nesting: -1 | 0 | 1) => Token;
  }
  type Rule = (tokens: readonly Token[], index: number, options: unknown, env: Record<string, unknown>) => string;
  interface Rules {
    fence: Rule;
    code_block: Rule;
    table_open: Rule;
    table_close: Rule;
    image: Rule;
  }
  /** Eleventy's Markdown renderer, markdown-it. */
  export interface Markdown {
    readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } };
    readonly renderer: { readonly rules: Rules };
  }

  export interface Configuration {
    setUseGitIgnore(use: boolean): void;
    setTemplateFormats(formats: readonly string[]): void;
    amendLibrary(format: 'md', amend: (markdown: Markdown) => void): void;
  }
  interface Options {
    readonly quietMode: boolean;
    config(configuration: Configuration): { readonly markdownTemplateEngine: false };
  }
  export default class Eleventy {
    constructor(input: string, output: string, options: Options);
    toJSON(): Promise<readonly { readonly inputPath: string; readonly content: string }[]>;
  }
}

declare module 'prismjs' {
  interface Prism {
    readonly languages: Record<string, unknown>;
    highlight(code: string, grammar: unknown, language: string): string;
  }
  const prism: Prism;
  export default prism;
}

declare module 'prismjs/components/index.js' {
  export default function loadLanguages(names: readonly string[]): void;
}
