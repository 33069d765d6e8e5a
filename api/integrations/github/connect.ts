import Joi from 'joi';

import type { GitHubCredentials } from '../../../connectors/github/index.js';
import { operation } from '../../http/operation.js';
import type { SuppliedCredentials } from '../../schemas/suppliedCredentials.js';
import { credential, dataSourceTags, syncSourceItems } from '../../schemas/integrations.js';
import { AFTER_CONNECTING, connectAccount } from '../connectAccount.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

/** Converts the fields of /integrations/connect into the connector's credentials. */
export const gitHubSupplied = ({
  username = '',
  access_token: accessToken = '',
}: SuppliedCredentials): GitHubCredentials => ({
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
  summary: 'Connect GitHub with a token',
  description: [
    `Connects a user of GitHub with a personal access token. ${AFTER_CONNECTING}

By default the connection lists no repositories: choose some with \`POST /integrations/github/sync_repos\`, then sync their files with \`POST /integrations/files/sync\`. Issues and pull requests are read by \`/integrations/data/github/…\`.`,
  ],
  returns:
    '`success: true`: GitHub accepted the token, and the account is stored. Its listing may still be in progress.',
  createsWork: true,
  body: named(
    'GithubConnectRequest',
    Joi.object({
      username: credential().description(
        'Login of the GitHub user to whom the token belongs; another one returns 400.',
      ),
      access_token: credential().description(
        'Personal access token of the account in `username`. It is stored encrypted and never returned.',
      ),
      sync_source_items: syncSourceItems(false),
      data_source_tags: dataSourceTags(),
    }).description('Credentials of a GitHub user, and what to do with the account after the connection.'),
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
