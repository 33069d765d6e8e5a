import { MockLanguageModelV3 } from 'ai/test';

const USAGE = { inputTokens: {}, outputTokens: {} };

/** A mock model, which needs no account: it calls the tool with the question, then quotes the first passage. */
export const standInModel = new MockLanguageModelV3({
  async doGenerate({ prompt }) {
    const last = prompt.at(-1);
    if (last.role === 'tool') {
      const [{ output }] = last.content;
      const [{ file, page, text }] = output.value;
      const answer = `“${text.replaceAll(/\s+/g, ' ')}” [${file}, page ${page}]`;
      return {
        content: [{ type: 'text', text: answer }],
        finishReason: { unified: 'stop' },
        usage: USAGE,
        warnings: [],
      };
    }
    const input = JSON.stringify({ query: last.content[0].text, limit: 2 });
    const content = [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'search', input }];
    return { content, finishReason: { unified: 'tool-calls' }, usage: USAGE, warnings: [] };
  },
});
