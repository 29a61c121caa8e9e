import type { NewWebhookSecret, Page, WebhookDelivery, WebhookSecret } from '../contract.ts';
import type { Asking } from './asking.ts';
import { deliveryStateChip } from './delivery-parts.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import type { Surroundings } from './page.ts';
import { dateText, momentText } from './times.ts';
import { counted, given } from './words.ts';

/** The signing secret, and what was announced to whom. */
export function webhooksPart({ api, redraw }: Surroundings, asking: Asking): () => TemplateResult {
  const secret = createLoader<WebhookSecret>(() => api.webhookSecret(), redraw);
  const deliveries = createLoader<Page<WebhookDelivery>>(
    () => api.webhookDeliveries({ limit: 20 }),
    redraw,
  );
  let made: NewWebhookSecret | null = null;
  void secret.load();
  void deliveries.load();

  function attemptsView({ attempts }: WebhookDelivery): TemplateResult {
    return html`<details>
      <summary>${counted(attempts.length, 'attempt')}</summary>
      <ul class="small">
        ${attempts.map(
          ({ at, status, durationMs, answerBytes, error }) =>
            html`<li>${momentText(at)}: ${status ?? 'no answer'} in ${durationMs} ms, ${answerBytes} bytes
              ${error ? html`<span class="soft">${given(error)}</span>` : nothing}</li>`,
        )}
      </ul>
    </details>`;
  }

  function deliveryView(one: WebhookDelivery): TemplateResult {
    return html`<tr>
      <th scope="row">${one.event}<span class="second">${momentText(one.createdAt)}</span></th>
      <td class="url">${given(one.url)}</td>
      <td>
        ${deliveryStateChip(one.state)}
        ${one.error && one.state !== 'delivered' ? html`<span class="second">${one.error.title}</span>` : nothing}
        ${one.disabledAt ? html`<span class="second">address switched off</span>` : nothing}
      </td>
      <td>${attemptsView(one)}</td>
      <td>
        ${
          one.state === 'dead' || one.state === 'delivered'
            ? asking.view({
                id: `redeliver ${one.id}`,
                label: 'Send again',
                question: 'Announce it again?',
                async run() {
                  await api.redeliver(one.id);
                  await deliveries.load();
                  return 'It is announced again.';
                },
              })
            : nothing
        }
      </td>
    </tr>`;
  }

  const tableView = ({ rows }: Page<WebhookDelivery>): TemplateResult =>
    rows.length === 0
      ? html`<p class="soft">Nothing was announced to a webhook.</p>`
      : html`<div class="scrolls">
          <table>
            <thead>
              <tr>
                ${['Event', 'Address', 'State', 'Attempts'].map((text) => html`<th scope="col">${text}</th>`)}
                <th scope="col"><span class="hidden-text">What can be done</span></th>
              </tr>
            </thead>
            <tbody>${rows.map(deliveryView)}</tbody>
          </table>
        </div>`;

  return () => html`<section class="panel" aria-labelledby="webhooks-head">
    <header>
      <h2 id="webhooks-head">Webhooks</h2>
      ${secret.value ? html`<span class="small soft">signing secret of ${dateText(secret.value.createdAt)}</span>` : nothing}
      <span class="push">
        ${asking.view({
          id: 'rotate',
          label: 'New signing secret',
          question: 'Make a new secret? Receivers need it to check signatures.',
          async run() {
            made = await api.rotateWebhookSecret();
            await secret.load();
            return 'There is a new secret. It is shown this once.';
          },
        })}
      </span>
    </header>
    ${
      made
        ? html`<div class="notice row">
            <span>Secret, shown this once:</span> <code class="secret">${made.secret}</code>
            <button type="button" class="plain" @click=${() => {
              made = null;
              redraw();
            }}>I have it</button>
          </div>`
        : nothing
    }
    ${shown(deliveries, tableView)}
  </section>`;
}
