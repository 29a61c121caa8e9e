import type { Delivery, DeliveryState } from '../contract.ts';
import type { Action, Asking } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { deliveredSubject, deliveredText, destinationText } from './object-names.ts';
import { may, type Surroundings } from './page.ts';
import { chip, counted, distanceText, given, momentText, type Tone, withCode } from './words.ts';

/**
 * The label and tone of each delivery state. `dead`: the delivery failed permanently and waits for
 * a person.
 */
export const DELIVERY_STATES = {
  dead: { text: 'Failed', tone: 'critical' },
  pending: { text: 'Waiting', tone: 'active' },
  sending: { text: 'Sending', tone: 'active' },
  delivered: { text: 'Delivered', tone: 'good' },
  diverted: { text: 'Sent elsewhere', tone: 'quiet' },
  closed: { text: 'Closed', tone: 'quiet' },
} as const satisfies Record<DeliveryState, { text: string; tone: Tone }>;

export function deliveryStateChip(state: DeliveryState): TemplateResult {
  return chip(DELIVERY_STATES[state].tone, DELIVERY_STATES[state].text);
}

export function deliveryChip({ state, held, notSent, committedAt }: Delivery): TemplateResult {
  if (held) return chip('attention', 'Held for a decision');
  if (notSent) return chip('quiet', 'Not sent');
  return state === 'delivered' && committedAt
    ? chip('good', 'Committed')
    : deliveryStateChip(state);
}

export function attemptsText(
  {
    state,
    attempts,
    nextAttemptAt,
    endedAt,
  }: Pick<Delivery, 'state' | 'attempts' | 'nextAttemptAt' | 'endedAt'>,
  now: Date,
): string {
  const parts = [counted(attempts, 'attempt')];
  if (state === 'pending' && nextAttemptAt) {
    // A delivery to a paused destination is not attempted when it is due.
    const isDue = Date.parse(nextAttemptAt) <= now.getTime();
    parts.push(
      isDue
        ? `due since ${momentText(nextAttemptAt, now)}`
        : `next ${distanceText(nextAttemptAt, now)}`,
    );
  }
  if (endedAt) parts.push(`ended ${momentText(endedAt, now)}`);
  return parts.join(', ');
}

/** Describes how the peer answered, or why the delivery failed and what a person can do. */
export function deliveryWords(delivery: Delivery): TemplateResult {
  const { state, error, outcome, notSent, closed } = delivery;
  return html`
    ${closed ? html`<p>Closed by ${given(closed.by)}, ${momentText(closed.at, new Date())}: ${given(closed.reason)}</p>` : nothing}
    ${
      error && state !== 'delivered'
        ? html`<p>${error.title}</p>
            ${state === 'closed' ? nothing : html`<p class="small soft">${withCode(error.advice)}</p>`}
            ${error.detail ? html`<p class="small soft">Details: ${given(error.detail)}</p>` : nothing}`
        : nothing
    }
    ${outcome && state === 'delivered' ? html`<p class="small soft">${notSent ? nothing : 'Peer: '}${given(outcome)}</p>` : nothing}
    <p class="small soft">${attemptsText(delivery, new Date())}</p>`;
}

/** Reasons that a person is typing, by the id of the delivery. They are kept while the page is redrawn. */
export type TypedReasons = Map<string, string>;

/** What the buttons of deliveries need from their page. */
export interface DeliveryButtons {
  around: Surroundings;
  asking: Asking;
  typed: TypedReasons;
  changed(delivery: Delivery): void;
}

/** Renders the buttons for replay, diversion and closing for roles that may use them. */
export function deliveryActions(
  delivery: Delivery,
  { around, asking, typed, changed }: DeliveryButtons,
): TemplateResult | typeof nothing {
  const { state, held } = delivery;
  if ((state !== 'dead' && state !== 'closed') || !may(around, 'deliver')) return nothing;
  const { api } = around;
  const replay: Action = {
    id: `replay ${delivery.id}`,
    label: 'Send again',
    question: `Send again to ${destinationText(delivery.destination)}?`,
    async run() {
      changed(await api.replay(delivery.id));
      return `${deliveredSubject(delivery)} will be sent to ${destinationText(delivery.destination)} again.`;
    },
  };
  const others = delivery.alternates.map(
    (destination): Action => ({
      id: `alternate ${delivery.id} ${destination}`,
      label: `Send to ${destination}`,
      question: `Send to ${destination} instead of ${delivery.destination}?`,
      async run() {
        changed(await api.sendToAlternate(delivery.id, { destination }));
        return `${deliveredSubject(delivery)} will be sent to ${destination}.`;
      },
    }),
  );
  const close: Action = {
    id: `close ${delivery.id}`,
    label: 'Close',
    question: `Do not send to ${destinationText(delivery.destination)} any more, because`,
    confirm: 'Close the delivery',
    danger: true,
    fields: html`<input
      aria-label="Reason, without names, identifiers and dates"
      placeholder="Reason, without names"
      maxlength="500"
      .value=${typed.get(delivery.id) ?? ''}
      @input=${(event: Event) => {
        if (event.target instanceof HTMLInputElement) typed.set(delivery.id, event.target.value);
      }}
    />`,
    async run() {
      const reason = typed.get(delivery.id)?.trim() ?? '';
      if (reason === '') throw new Error('Enter the reason.');
      changed(await api.closeDelivery(delivery.id, { reason }));
      typed.delete(delivery.id);
      return `${deliveredSubject(delivery)} will not be sent to ${destinationText(delivery.destination)} any more.`;
    },
  };
  // A held report is rejected instead, by those who decide about it.
  const ends = state === 'dead' && !held ? [close] : [];
  return html`<div class="row">${[replay, ...others, ...ends].map(asking.view)}</div>`;
}

export function studyDeliveries(
  deliveries: readonly Delivery[],
  buttons: DeliveryButtons,
): TemplateResult {
  return html`<section class="panel" id="deliveries" aria-labelledby="deliveries-head">
    <header><h2 id="deliveries-head">Deliveries</h2></header>
    ${
      deliveries.length === 0
        ? html`<p class="soft">There is nothing to send.</p>`
        : html`<ul class="deliveries">
            ${deliveries.map(
              (delivery) => html`<li>
                <div class="row">
                  <strong>${given(destinationText(delivery.destination))}</strong>
                  <span class="soft">${deliveredText(delivery)}</span>
                  <span class="push">${deliveryChip(delivery)}</span>
                </div>
                ${deliveryWords(delivery)} ${deliveryActions(delivery, buttons)}
              </li>`,
            )}
          </ul>`
    }
  </section>`;
}
