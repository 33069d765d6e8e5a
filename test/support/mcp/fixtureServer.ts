/**
 * A server with the tools, prompts and resources that the scenarios of @modelcontextprotocol/conformance require. Names
 * and texts are those of the scenarios: https://github.com/modelcontextprotocol/conformance
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { FIXTURE_TOOLS, PNG } from './fixtureTools.js';

const text = (value: string) => ({ type: 'text' as const, text: value });

const RESOURCES = [
  {
    uri: 'test://static-text',
    name: 'Text',
    description: 'A text',
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  },
  {
    uri: 'test://static-binary',
    name: 'Picture',
    description: 'A picture',
    mimeType: 'image/png',
    blob: PNG,
  },
];

function readResource(uri: string) {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id !== undefined) {
    const value = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(value) }] };
  }
  const resource = RESOURCES.find((candidate) => candidate.uri === uri);
  if (!resource) throw new Error(`There is no resource ${uri}`);
  const content = resource.blob ? { blob: resource.blob } : { text: resource.text };
  return { contents: [{ uri, mimeType: resource.mimeType, ...content }] };
}

const argument = (name: string) => ({ name, description: name, required: true });
type Arguments = Readonly<Record<string, string>>;
const PROMPTS = [
  {
    name: 'test_simple_prompt',
    description: 'A prompt',
    arguments: [],
    contents: () => [text('This is a simple prompt for testing.')],
  },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with arguments',
    arguments: [argument('arg1'), argument('arg2')],
    contents: ({ arg1, arg2 }: Arguments) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource',
    arguments: [argument('resourceUri')],
    contents: ({ resourceUri: uri = '' }: Arguments) => [
      {
        type: 'resource' as const,
        resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      },
      text('Please process the embedded resource above.'),
    ],
  },
  {
    name: 'test_prompt_with_image',
    description: 'A prompt with a picture',
    arguments: [],
    contents: () => [
      { type: 'image' as const, data: PNG, mimeType: 'image/png' },
      text('Please analyze the image above.'),
    ],
  },
];

/** Returns a new server, for one message or for one session. */
export function createFixtureServer(): McpServer {
  const mcp = new McpServer(
    { name: 'allotrope-fixtures', version: '0.0.0' },
    { capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} } },
  );
  const { server } = mcp;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: FIXTURE_TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = FIXTURE_TOOLS.find(({ name }) => name === params.name);
    if (!tool) throw new Error(`There is no tool ${params.name}`);
    return tool.run({ extra, args: params.arguments ?? {}, progressToken: params._meta?.progressToken });
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: RESOURCES.map(({ uri, name, description, mimeType }) => ({ uri, name, description, mimeType })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'Template', description: 'Data of an id' }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => readResource(params.uri));
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: PROMPTS.map(({ name, description, arguments: declaredArguments }) => ({
      name,
      description,
      arguments: declaredArguments,
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS.find(({ name }) => name === params.name);
    if (!prompt) throw new Error(`There is no prompt ${params.name}`);
    const contents = prompt.contents(params.arguments ?? {});
    return { messages: contents.map((content) => ({ role: 'user' as const, content })) };
  });
  server.setRequestHandler(CompleteRequestSchema, () => ({ completion: { values: [], total: 0, hasMore: false } }));
  server.setRequestHandler(SetLevelRequestSchema, () => ({}));
  return mcp;
}
