import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type Joi from 'joi';

import type { Infer } from '../schemas/inferred.js';
import type { Agent } from './agent.js';

/** A tool of the MCP endpoint. */
export interface Tool<Input extends Joi.Schema = Joi.Schema> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Scope that a token needs to see and call it. */
  readonly scope: 'read' | 'write';
  readonly annotations: ToolAnnotations;
  readonly input: Input;
  readonly output: Joi.ObjectSchema;
  /**
   * Returns the fields that `output` describes; callTool adds `notice`. @throws HttpError with a message for the agent
   */
  run(input: Infer<Input>, agent: Agent): Promise<object>;
}

/** Declares a tool; the arguments of `run` are typed by its input schema. */
export function tool<Input extends Joi.Schema>(definition: Tool<Input>): Tool {
  // The server calls each tool with validated arguments.
  return definition as unknown as Tool;
}

/** Annotations of tools that read stored content of the user. */
export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
