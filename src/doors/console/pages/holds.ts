import type { ConfirmHold, Hold, HoldChoice, HoldNeeds, HoldWithIdentity } from '../contract.ts';
import { type Asking, createAsking, sentence } from './asking.ts';
import { html, nothing, repeat, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import { may, type OpenPage, type Surroundings } from './page.ts';
import { openQuarantine } from './quarantine.ts';
import { addressOf } from './router.ts';
import { subjectDetail, subjectText } from './row-words.ts';
import { chip, counted, empty, given, momentText, withCode } from './words.ts';

interface Chosen {
  patient: string;
  /** `''` if no order has been chosen yet, `none` for no order. */
  order: string;
  reason: string;
}

const NOTHING_CHOSEN: Chosen = { patient: '', order: '', reason: '' };

/** Returns the body of the confirmation; null if the patient must still be chosen. */
export function confirmation(
  { patient, order }: Pick<Chosen, 'patient' | 'order'>,
  needs: HoldNeeds,
): ConfirmHold | null {
  if (!patient && needs === 'patient') return null;
  return {
    ...(patient && { patient }),
    ...(order === 'none' ? { withoutOrder: true } : order && { order }),
  };
}

/**
 * Lets a person choose the patient and the order of a held report, and send or reject it.
 * @param ended is called once the report has been sent or rejected.
 */
function createDecision(
  { api, redraw }: Surroundings,
  asking: Asking,
  { ended, close }: { ended(text: string): Promise<string>; close(): void },
) {
  let chosen: Chosen = NOTHING_CHOSEN;

  function choose(part: Partial<Chosen>): void {
    chosen = { ...chosen, ...part };
    redraw();
  }

  function choiceView(choice: HoldChoice): TemplateResult {
    const part = choice.kind;
    return html`<label class="tick">
      <input
        type="radio"
        name=${part}
        .checked=${chosen[part] === choice.reference}
        @change=${() => choose({ [part]: choice.reference })}
      />
      <span>${given(choice.text)} <span class="small soft">${choice.reference}</span></span>
    </label>`;
  }

  function choicesView({ choices }: HoldWithIdentity): TemplateResult {
    const patients = choices.filter(({ kind }) => kind === 'patient');
    const orders = choices.filter(({ kind }) => kind === 'order');
    return html`
      <fieldset>
        <legend>Patient in the EHR</legend>
        ${patients.length > 0 ? patients.map(choiceView) : html`<p class="soft">The EHR has no matching patient.</p>`}
        <label class="field">
          <span>Another patient in the EHR</span>
          <input
            placeholder="Patient/…"
            .value=${patients.some(({ reference }) => reference === chosen.patient) ? '' : chosen.patient}
            @input=${(event: Event) => {
              if (event.target instanceof HTMLInputElement) {
                choose({ patient: event.target.value.trim() });
              }
            }}
          />
        </label>
      </fieldset>
      <fieldset>
        <legend>Order</legend>
        ${orders.map(choiceView)}
        <label class="tick">
          <input
            type="radio"
            name="order"
            .checked=${chosen.order === 'none'}
            @change=${() => choose({ order: 'none' })}
          />
          <span>Without an order</span>
        </label>
      </fieldset>`;
  }

  function view(hold: HoldWithIdentity): TemplateResult {
    const answer = confirmation(chosen, hold.needs);
    return html`<div class="decision">
      ${choicesView(hold)}
      <div class="row">
        ${
          answer
            ? asking.view({
                id: `confirm ${hold.id}`,
                label: 'Send the report',
                question: `Send it to ${chosen.patient || 'the patient found by the gateway'}${chosen.order === 'none' ? ' without an order' : ''}?`,
                async run() {
                  await api.confirmHold(hold.id, answer);
                  return ended('The report will be sent.');
                },
              })
            : html`<span class="soft">Choose the patient before sending the report.</span>`
        }
        ${asking.view({
          id: `reject ${hold.id}`,
          label: 'Do not send',
          question: 'Never send this report, because',
          confirm: 'Do not send',
          danger: true,
          fields: html`<input
            aria-label="Reason"
            .value=${chosen.reason}
            @input=${(event: Event) => {
              if (event.target instanceof HTMLInputElement) choose({ reason: event.target.value });
            }}
          />`,
          async run() {
            await api.rejectHold(hold.id, { reason: chosen.reason.trim() });
            return ended('The report will not be sent.');
          },
        })}
        <button type="button" class="plain" @click=${close}>Close</button>
      </div>
    </div>`;
  }

  return {
    view,
    reset() {
      chosen = NOTHING_CHOSEN;
    },
  };
}

/**
 * Opens the page of reports that a person must confirm, usually because the patient or order is
 * uncertain.
 */
export const openHolds: OpenPage = (_place, around) => {
  const { api, redraw } = around;
  const holds = createLoader<Hold[]>(() => api.holds(), redraw);
  const asking = createAsking(around);
  const quarantine = openQuarantine(around);
  let opened: { id: string; hold: HoldWithIdentity | null; problem: string | null } | null = null;
  const decision = createDecision(around, asking, { ended, close });

  async function open(id: string): Promise<void> {
    opened = { id, hold: null, problem: null };
    decision.reset();
    redraw();
    try {
      const hold = await api.heldReport(id);
      if (opened?.id === id) opened = { id, hold, problem: null };
    } catch (error) {
      if (opened?.id === id) opened = { id, hold: null, problem: sentence(error) };
    }
    redraw();
  }

  function close(): void {
    opened = null;
    redraw();
  }

  async function ended(text: string): Promise<string> {
    opened = null;
    await holds.load();
    return text;
  }

  function sendAgainView({ id }: Hold): TemplateResult {
    return asking.view({
      id: `again ${id}`,
      label: 'Send again',
      question:
        'Send it again unchanged? The EHR keeps only one report, no matter how often it is sent.',
      async run() {
        await api.confirmHold(id, {});
        return ended('The report will be sent again.');
      },
    });
  }

  function holdView(hold: Hold): TemplateResult {
    const isOpen = opened?.id === hold.id;
    return html`<li class="panel">
      <div class="row">
        <h2>${given(subjectText(hold.subject))}</h2>
        <span class="soft">${given(subjectDetail(hold.subject))}</span>
        ${chip('attention', hold.title)}
        <span class="small soft push">${hold.destination}, since ${momentText(hold.since)}</span>
      </div>
      <p>${withCode(hold.advice)}</p>
      ${hold.detail ? html`<p class="small soft">${given(hold.detail)}</p>` : nothing}
      <p class="small soft">
        ${hold.candidates === 0 ? 'No candidate in the EHR' : counted(hold.candidates, 'candidate')}${hold.retried ? ', still being tried' : ''}
      </p>
      ${isOpen && opened?.problem ? html`<p class="problem" role="alert">${opened.problem}</p>` : nothing}
      ${
        isOpen && opened?.hold
          ? decision.view(opened.hold)
          : html`<div class="row">
              ${
                may(around, 'confirm')
                  ? html`${hold.needs === 'nothing' ? sendAgainView(hold) : nothing}
                      <button type="button" @click=${() => void open(hold.id)}>Decide</button>`
                  : html`<span class="small soft">A clinician must decide.</span>`
              }
              ${hold.key ? html`<a class="button" href=${addressOf('study', { id: hold.key })}>Study</a>` : nothing}
            </div>`
      }
    </li>`;
  }

  void holds.load();
  void quarantine.load();

  return {
    title: () => 'Held reports',
    changed(event) {
      if (event.type === 'reset' || event.type === 'delivery') void holds.load();
      if (event.type === 'reset') void quarantine.load();
    },
    view: () => html`<div class="page-head">
        <h1 tabindex="-1">Held reports</h1>
        <span class="soft">The EHR has not accepted these reports: the patient or the order could not be matched safely, the EHR refused the report, or it did not respond for too long. A person must decide.</span>
      </div>
      ${shown(holds, (all) =>
        all.length === 0
          ? empty('No report is waiting for a decision.')
          : html`<ul class="holds">${repeat(all, ({ id }) => id, holdView)}</ul>`,
      )}
      ${quarantine.view()}`,
  };
};
