/** The tools that the scenarios of @modelcontextprotocol/conformance call. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolResult,
  CreateMessageResultSchema,
  ElicitResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';

/** One red pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A recording without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
/** Pause between two notifications in milliseconds, as the scenarios require. */
const PAUSE_MS = 50;

interface Call {
  readonly extra: RequestHandlerExtra<ServerRequest, ServerNotification>;
  readonly args: Readonly<Record<string, unknown>>;
  readonly progressToken: string | number | undefined;
}
interface FixtureTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
  readonly run: (call: Call) => CallToolResult | Promise<CallToolResult>;
}

const textItem = (text: string) => ({ type: 'text' as const, text });
const textResult = (text: string): CallToolResult => ({ content: [textItem(text)] });
const picture = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const resource = (uri: string, mimeType: string, text: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text },
});

type Properties = Readonly<Record<string, object>>;
const tool = (name: string, run: FixtureTool['run'], properties: Properties = {}): FixtureTool => ({
  ...{ name, run },
  description: `The conformance tests call ${name}`,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
});

/** Requests values from the user of the client. */
const elicit = ({ extra }: Call, message: string, properties: Properties, required: readonly string[] = []) =>
  extra.sendRequest(
    {
      method: 'elicitation/create',
      params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required } },
    } as ServerRequest,
    ElicitResultSchema,
  );

/** A tool that returns what the user entered. */
const eliciting = (name: string, properties: Properties): FixtureTool =>
  tool(name, async (call) => {
    const { action, content } = await elicit(call, 'Please enter the values', properties);
    return textResult(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
  });

const titled = (...titles: readonly string[]) => titles.map((title, nth) => ({ const: `value${nth + 1}`, title }));
const OPTIONS = ['option1', 'option2', 'option3'];

export const FIXTURE_TOOLS: readonly FixtureTool[] = [
  tool('test_simple_text', () => textResult('This is a simple text response for testing.')),
  tool('test_image_content', () => ({ content: [picture] })),
  tool('test_audio_content', () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] })),
  tool('test_embedded_resource', () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  })),
  tool('test_multiple_content_types', () => ({
    content: [
      textItem('Multiple content types test:'),
      picture,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  })),
  tool('test_tool_with_logging', async ({ extra }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await sleep(PAUSE_MS);
    }
    return textResult('done');
  }),
  tool('test_error_handling', () => ({
    isError: true,
    content: [textItem('This tool intentionally returns an error for testing')],
  })),
  tool('test_tool_with_progress', async ({ extra, progressToken }) => {
    for (const progress of [0, 50, 100]) {
      const params = { progressToken: progressToken ?? 0, progress, total: 100 };
      if (progressToken !== undefined) await extra.sendNotification({ method: 'notifications/progress', params });
      await sleep(PAUSE_MS);
    }
    return textResult('done');
  }),
  tool(
    'test_sampling',
    async ({ extra, args }) => {
      const content = textItem(String(args['prompt']));
      const params = { messages: [{ role: 'user' as const, content }], maxTokens: 100 };
      const answer = await extra.sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema);
      return textResult(`LLM response: ${answer.content.type === 'text' ? answer.content.text : ''}`);
    },
    { prompt: { type: 'string' } },
  ),
  tool(
    'test_elicitation',
    async (call) => {
      const field = (description: string) => ({ type: 'string', description });
      const properties = { username: field('Name of the user'), email: field('Address of the user') };
      const result = await elicit(call, String(call.args['message']), properties, ['username', 'email']);
      return textResult(`User response: ${JSON.stringify(result)}`);
    },
    { message: { type: 'string' } },
  ),
  eliciting('test_elicitation_sep1034_defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  eliciting('test_elicitation_sep1330_enums', {
    untitledSingle: { type: 'string', enum: OPTIONS },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
  }),
  tool('test_reconnection', async ({ extra }) => {
    extra.closeSSEStream?.();
    await sleep(PAUSE_MS);
    return textResult('done after the stream was closed');
  }),
  {
    ...tool('json_schema_2020_12_tool', () => textResult('done')),
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
  },
];
