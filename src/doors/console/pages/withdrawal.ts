import type {
  RequestSummary,
  ShownWithdrawal,
  StudyPage,
  WithdrawResult,
  WorklistRow,
} from '../contract.ts';
import type { Action } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { Surroundings } from './page.ts';
import { chip, given, momentText, type Tone } from './words.ts';

const RECEIVER_STATES = {
  pending: { text: 'withdrawal is being sent', tone: 'active' },
  withdrawn: { text: 'withdrawn', tone: 'good' },
  not_present: { text: 'has nothing to withdraw', tone: 'quiet' },
  by_hand: { text: 'must be withdrawn there by hand', tone: 'critical' },
  closed: { text: 'closed: nothing left to do', tone: 'quiet' },
} as const satisfies Record<
  ShownWithdrawal['receivers'][number]['state'],
  { text: string; tone: Tone }
>;

/** Renders the withdrawal of a result: by whom, when, why, and what each receiver has done. */
export function withdrawalView(
  withdrawal: ShownWithdrawal | null,
): TemplateResult | typeof nothing {
  if (withdrawal === null) return nothing;
  const { at, by, reason, receivers } = withdrawal;
  return html`<section class="flags" id="withdrawn" aria-label="Withdrawn result">
    <p>${chip('critical', 'Withdrawn')} <strong>Do not use this result.</strong> ${given(reason)}</p>
    <ul class="small">
      ${receivers.map(
        ({ destination, state, closed }) =>
          html`<li>${given(destination)} ${chip(RECEIVER_STATES[state].tone, RECEIVER_STATES[state].text)}
            ${closed ? html`by ${given(closed.by)}, ${momentText(closed.at)}: ${given(closed.reason)}` : nothing}</li>`,
      )}
    </ul>
    <p class="small">Withdrawn${by === null ? nothing : html` by ${given(by)}`}, ${momentText(at)}</p>
  </section>`;
}

/** What a person has chosen and typed about a withdrawal. It is kept while the page is redrawn. */
export interface TypedWithdrawal {
  reason: WithdrawResult['reason'] | '';
  text: string;
}

/**
 * Returns the action that withdraws the result of a request, if the role may. The reason has to be
 * chosen, so that nobody withdraws a result for the reason that happens to be the first.
 */
export function withdrawalAction(
  { withdrawalReasons }: StudyPage,
  request: RequestSummary | undefined,
  { api }: Pick<Surroundings, 'api'>,
  typed: TypedWithdrawal,
  changed: (row: WorklistRow) => void,
): Action[] {
  if (!request?.mayWithdraw) return [];
  return [
    {
      id: 'withdraw',
      label: 'Withdraw',
      question:
        'Withdraw this result for good, here and at every system that has received it, because of',
      confirm: 'Withdraw the result',
      danger: true,
      fields: html`<select
          aria-label="Reason"
          @change=${(event: Event) => {
            if (!(event.target instanceof HTMLSelectElement)) return;
            const { value } = event.target;
            typed.reason = withdrawalReasons.find(({ code }) => code === value)?.code ?? '';
          }}
        >
          <option value="" ?selected=${typed.reason === ''}>choose the reason…</option>
          ${withdrawalReasons.map(
            ({ code, text }) =>
              html`<option value=${code} ?selected=${code === typed.reason}>${text}</option>`,
          )}
        </select>
        <input
          size="38"
          aria-label="Explanation, without names (optional)"
          placeholder="Explanation, without names (optional)"
          .value=${typed.text}
          @input=${(event: Event) => {
            if (event.target instanceof HTMLInputElement) typed.text = event.target.value;
          }}
        />`,
      run: async () => {
        if (typed.reason === '') throw new Error('Choose the reason.');
        const text = typed.text.trim();
        changed(await api.withdraw(request.id, { reason: typed.reason, ...(text && { text }) }));
        return 'The result is withdrawn.';
      },
    },
  ];
}
