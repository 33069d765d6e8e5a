import Joi from 'joi';

import type { GitHubCredentials } from '../../../connectors/github/index.js';
import { operation } from '../../http/operation.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { credential } from '../../schemas/integrations.js';
import { tags } from '../../schemas/tags.js';
import { connectAccount } from '../connectAccount.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

/** Converts the fields of /integrations/connect into the connector's credentials. */
export const gitHubHandedOver = ({ username = '', access_token: accessToken = '' }: HandedOver): GitHubCredentials => ({
  username,
  accessToken,
});

/**
 * POST /integrations/github: connects a GitHub user, or renews the token of a known one. The token is verified before
 * anything is stored.
 */
export const connectGitHub = operation({
  method: 'post',
  path: '/integrations/github',
  operationId: 'github_connect_integrations_github_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Connects GitHub with a token.',
  description: [],
  createsWork: true,
  body: named(
    'GithubConnectRequest',
    Joi.object({
      username: credential(),
      access_token: credential(),
      sync_source_items: Joi.boolean().default(false),
      data_source_tags: tags().default({}),
    }),
  ),
  answer: success,
  async handle({ caller, body, deps }) {
    const credentials: GitHubCredentials = { username: body.username, accessToken: body.access_token };
    await connectAccount(
      caller,
      {
        type: 'GITHUB',
        credentials,
        dataSourceTags: body.data_source_tags,
        listItems: body.sync_source_items,
        syncFiles: false,
      },
      deps,
    );
    return { success: true };
  },
});
