import { type DeliveryStatus, failureSentence } from '../../../contract/webhooks.js';
import type { DeliveryDoc } from '../../../store/models/webhooks.js';
import { html, type Html } from '../../http/answers/html.js';
import type { WebhookOverview } from '../../http/overviews.js';
import { unavailable, badge, card, empty, type Tone, nothing, when } from './components.js';

const TONES: Readonly<Record<DeliveryStatus, Tone>> = { PENDING: 'busy', DELIVERED: 'good', FAILED: 'bad' };
const NAMES: Readonly<Record<DeliveryStatus, string>> = {
  PENDING: 'waiting',
  DELIVERED: 'delivered',
  FAILED: 'given up',
};

function stateOf({ webhook: { disabledAt, failing, status, statusReason } }: WebhookOverview): Html {
  if (disabledAt !== null)
    return html`${badge('bad', 'disabled')} since ${when(disabledAt)}: its receiver responded with HTTP 410. Delete this
    webhook and add one with the new URL, or enable it again: POST /webhooks/…/redeliver.`;
  if (failing) return html`${badge('bad', 'failing')} ${failureSentence(failing)}`;
  return status === 'ACTIVE' ? badge('good', 'active') : html`${badge('warn', 'failing')} ${statusReason}`;
}

const row = ({ event, position, status, attempts, nextTryAt, createdAt }: DeliveryDoc): Html => {
  const last = attempts.at(-1);
  const answer = last?.error ?? (last?.statusCode ? `HTTP ${last.statusCode}` : '');
  return html`<tr>
    <td class="n">${position}</td>
    <td>${event.kind}</td>
    <td>${badge(TONES[status], NAMES[status])}</td>
    <td class="n">${attempts.length}</td>
    <td class="w">
      ${answer}${nextTryAt === null || status !== 'PENDING' ? nothing : html` <span class="soft">again at</span> ${when(nextTryAt)}`}
    </td>
    <td>${when(last?.at ?? createdAt)}</td>
  </tr>`;
};

const renderWebhook = (webhook: WebhookOverview): Html => {
  const { _id, url } = webhook.webhook;
  const table = html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col" class="n">Event</th>
          <th scope="col">Kind</th>
          <th scope="col">Outcome</th>
          <th scope="col" class="n">Attempts</th>
          <th scope="col">Answer</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        ${webhook.deliveries.map(row)}
      </tbody>
    </table>
  </div>`;
  return html`<p class="empty">
      <b class="name">${url}</b> <span class="soft">(webhook ${_id})</span><br />${stateOf(webhook)}
    </p>
    ${webhook.deliveries.length === 0 ? empty('Nothing was delivered yet.') : table}`;
};

/** Renders webhooks with their state and latest deliveries. */
export function webhooksCard(webhooks: readonly WebhookOverview[] | null): Html {
  if (!webhooks) return card('Webhook deliveries', '', unavailable());
  return card(
    'Webhook deliveries',
    webhooks.length === 0 ? 'no webhooks' : 'the latest of each webhook',
    webhooks.length === 0
      ? empty('No webhook was added. Add one: POST /add_webhook.')
      : html`${webhooks.map(renderWebhook)}`,
  );
}
