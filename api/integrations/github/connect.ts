import Joi from 'joi';

import type { GitHubCredentials } from '../../../connectors/github/index.js';
import { operation } from '../../http/operation.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { credential, success } from '../../schemas/integrations.js';
import { tags } from '../../schemas/tags.js';
import { connectAccount } from '../connectAccount.js';

/** What the connector takes, of what was handed over at /integrations/connect. */
export const gitHubHandedOver = ({ username = '', access_token: accessToken = '' }: HandedOver): GitHubCredentials => ({
  username,
  accessToken,
});

/** POST /integrations/github: connects a user of GitHub, or renews the token of a known one. The token is tried before anything is accepted. */
export const connectGitHub = operation({
  method: 'post',
  path: '/integrations/github',
  auth: 'user',
  summary: 'Connects GitHub with a token.',
  createsWork: true,
  body: Joi.object({
    username: credential(),
    access_token: credential(),
    sync_source_items: Joi.boolean().default(false),
    data_source_tags: tags().default({}),
  }),
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
