import type {
  ConfirmHold,
  ConsoleEvent,
  Hold,
  HoldChoice,
  HoldNeeds,
  HoldWithIdentity,
  Quarantined,
} from '../contract.ts';
import { type Asking, createAsking, sentence } from './asking.ts';
import { html, nothing, repeat, type TemplateResult } from './html.ts';
import { createLoader, type Loader, shown } from './loading.ts';
import { may, type OpenPage, type Page, type Surroundings } from './page.ts';
import { addressOf } from './router.ts';
import { subjectDetail, subjectText } from './row-words.ts';
import { sizeText } from './study-parts.ts';
import { chip, counted, empty, given, momentText, withCode } from './words.ts';

interface Chosen {
  patient: string;
  /** `''` if no order has been chosen yet, `none` for no order. */
  order: string;
  reason: string;
}

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

interface DecisionParts {
  around: Surroundings;
  asking: Asking;
  /** Called once the report has been sent or rejected; resolves to the text to announce. */
  ended(text: string): Promise<string>;
  close(): void;
}

/** Lets a person choose the patient and the order of a held report, and send or reject it. */
class Decision {
  readonly #hold: HoldWithIdentity;
  readonly #parts: DecisionParts;
  #chosen: Chosen = { patient: '', order: '', reason: '' };

  constructor(hold: HoldWithIdentity, parts: DecisionParts) {
    this.#hold = hold;
    this.#parts = parts;
  }

  view(): TemplateResult {
    return html`<div class="decision">
      ${this.#patientView()} ${this.#orderView()}
      <div class="row">
        ${this.#confirmView()} ${this.#rejectView()}
        <button type="button" class="plain" @click=${this.#parts.close}>Close</button>
      </div>
    </div>`;
  }

  #choose(part: Partial<Chosen>): void {
    this.#chosen = { ...this.#chosen, ...part };
    this.#parts.around.redraw();
  }

  #choices(wanted: HoldChoice['kind']): HoldChoice[] {
    return this.#hold.choices.filter(({ kind }) => kind === wanted);
  }

  #choiceView({ kind, reference, text }: HoldChoice): TemplateResult {
    return html`<label class="tick">
      <input
        type="radio"
        name=${kind}
        .checked=${this.#chosen[kind] === reference}
        @change=${() => this.#choose({ [kind]: reference })}
      />
      <span>${given(text)} <span class="small soft">${reference}</span></span>
    </label>`;
  }

  #patientView(): TemplateResult {
    const patients = this.#choices('patient');
    const { patient } = this.#chosen;
    return html`<fieldset>
        <legend>Patient in the EHR</legend>
        ${patients.length > 0 ? patients.map((one) => this.#choiceView(one)) : html`<p class="soft">The EHR has no matching patient.</p>`}
        <label class="field">
          <span>Another patient in the EHR</span>
          <input
            placeholder="Patient/…"
            .value=${patients.some(({ reference }) => reference === patient) ? '' : patient}
            @input=${(event: Event) => {
              if (event.target instanceof HTMLInputElement) {
                this.#choose({ patient: event.target.value.trim() });
              }
            }}
          />
        </label>
      </fieldset>`;
  }

  #orderView(): TemplateResult {
    return html`<fieldset>
        <legend>Order</legend>
        ${this.#choices('order').map((one) => this.#choiceView(one))}
        <label class="tick">
          <input
            type="radio"
            name="order"
            .checked=${this.#chosen.order === 'none'}
            @change=${() => this.#choose({ order: 'none' })}
          />
          <span>Without an order</span>
        </label>
      </fieldset>`;
  }

  #confirmView(): TemplateResult {
    const { id, needs } = this.#hold;
    const { around, asking, ended } = this.#parts;
    const answer = confirmation(this.#chosen, needs);
    if (!answer) {
      return html`<span class="soft">Choose the patient before sending the report.</span>`;
    }
    const { patient, order } = this.#chosen;
    return asking.view({
      id: `confirm ${id}`,
      label: 'Send the report',
      question: `Send it to ${patient || 'the patient found by the gateway'}${order === 'none' ? ' without an order' : ''}?`,
      async run() {
        await around.api.confirmHold(id, answer);
        return ended('The report will be sent.');
      },
    });
  }

  #rejectView(): TemplateResult {
    const { id } = this.#hold;
    const { around, asking, ended } = this.#parts;
    return asking.view({
      id: `reject ${id}`,
      label: 'Do not send',
      question: 'Never send this report, because',
      confirm: 'Do not send',
      danger: true,
      fields: html`<input
        aria-label="Reason"
        .value=${this.#chosen.reason}
        @input=${(event: Event) => {
          if (event.target instanceof HTMLInputElement) {
            this.#choose({ reason: event.target.value });
          }
        }}
      />`,
      run: async () => {
        await around.api.rejectHold(id, { reason: this.#chosen.reason.trim() });
        return ended('The report will not be sent.');
      },
    });
  }
}

/**
 * Opens the page of reports that a person must confirm, usually because the patient or order is
 * uncertain.
 */
export const openHolds: OpenPage = (_place, around) => new HoldsScreen(around);

/** The report about which a person decides. */
interface Opened {
  id: string;
  /** Null until the report has been fetched. */
  decision: Decision | null;
  problem: string | null;
}

class HoldsScreen implements Page {
  readonly #around: Surroundings;
  readonly #holds: Loader<Hold[]>;
  readonly #asking: Asking;
  readonly #quarantine: ReturnType<typeof openQuarantine>;
  #opened: Opened | null = null;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#holds = createLoader<Hold[]>(() => around.api.holds(), around.redraw);
    this.#asking = createAsking(around);
    this.#quarantine = openQuarantine(around);
    void this.#holds.load();
    void this.#quarantine.load();
  }

  title(): string {
    return 'Held reports';
  }

  changed(event: ConsoleEvent): void {
    if (event.type === 'reset' || event.type === 'delivery') void this.#holds.load();
    if (event.type === 'reset') void this.#quarantine.load();
  }

  view(): TemplateResult {
    return html`<div class="page-head">
        <h1 tabindex="-1">Held reports</h1>
        <span class="soft">The EHR has not accepted these reports: the patient or the order could not be matched safely, the EHR refused the report, or it did not respond for too long. A person must decide.</span>
      </div>
      ${shown(this.#holds, (all) =>
        all.length === 0
          ? empty('No report is waiting for a decision.')
          : html`<ul class="holds">${repeat(
              all,
              ({ id }) => id,
              (hold) => this.#holdView(hold),
            )}</ul>`,
      )}
      ${this.#quarantine.view()}`;
  }

  async #open(id: string): Promise<void> {
    const { api, redraw } = this.#around;
    const opened: Opened = { id, decision: null, problem: null };
    this.#opened = opened;
    redraw();
    try {
      opened.decision = new Decision(await api.heldReport(id), {
        around: this.#around,
        asking: this.#asking,
        ended: (text) => this.#ended(text),
        close: () => this.#close(),
      });
    } catch (error) {
      opened.problem = sentence(error);
    }
    redraw();
  }

  #close(): void {
    this.#opened = null;
    this.#around.redraw();
  }

  async #ended(text: string): Promise<string> {
    this.#opened = null;
    await this.#holds.load();
    return text;
  }

  #sendAgainView({ id }: Hold): TemplateResult {
    return this.#asking.view({
      id: `again ${id}`,
      label: 'Send again',
      question:
        'Send it again unchanged? The EHR keeps only one report, no matter how often it is sent.',
      run: async () => {
        await this.#around.api.confirmHold(id, {});
        return this.#ended('The report will be sent again.');
      },
    });
  }

  #holdView(hold: Hold): TemplateResult {
    const opened = this.#opened?.id === hold.id ? this.#opened : null;
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
      ${opened?.problem ? html`<p class="problem" role="alert">${opened.problem}</p>` : nothing}
      ${opened?.decision?.view() ?? this.#actionsView(hold)}
    </li>`;
  }

  #actionsView(hold: Hold): TemplateResult {
    return html`<div class="row">
      ${
        may(this.#around, 'confirm')
          ? html`${hold.needs === 'nothing' ? this.#sendAgainView(hold) : nothing}
              <button type="button" @click=${() => void this.#open(hold.id)}>Decide</button>`
          : html`<span class="small soft">A clinician or an administrator must decide.</span>`
      }
      ${hold.key ? html`<a class="button" href=${addressOf('study', { id: hold.key })}>Study</a>` : nothing}
    </div>`;
  }
}

/** The part of the held reports page that lists received objects that could not be recorded. */
interface QuarantineList {
  load(): Promise<void>;
  view(): TemplateResult | typeof nothing;
}

export function openQuarantine(around: Surroundings): QuarantineList {
  const { api } = around;
  const objects = createLoader<Quarantined[]>(() => api.quarantine(), around.redraw);
  const asking = createAsking(around);

  /**
   * Why the last action failed. It is shown above the list, because an object that is quarantined
   * again gets a new id.
   */
  let problem: string | null = null;

  async function attempt(change: Promise<void>, done: string): Promise<string> {
    problem = await change.then(() => null, sentence);
    await objects.load();
    return problem ?? done;
  }

  const actions = ({ id, source }: Quarantined): TemplateResult => html`<div class="row">
    ${
      source === null
        ? nothing
        : asking.view({
            id: `register ${id}`,
            label: 'Register again',
            question:
              'Register this object as if it had just arrived? If it still cannot be read, it will return to quarantine.',
            run: () =>
              attempt(api.registerQuarantined(id), 'The object has been added to its study.'),
          })
    }
    ${asking.view({
      id: `remove ${id}`,
      label: 'Remove',
      question: 'Delete this object permanently?',
      danger: true,
      run: () => attempt(api.removeQuarantined(id), 'The object has been deleted.'),
    })}
  </div>`;

  const row = (object: Quarantined): TemplateResult => html`<li class="panel">
    <div class="row">
      <h3>${given(object.source ?? 'Unknown source')}</h3>
      <span class="soft">${given(object.callingAeTitle ?? '')}</span>
      ${chip('attention', object.title ?? 'No reason recorded')}
      <span class="small soft push">${sizeText(object.bytes)}, ${momentText(object.at)}</span>
    </div>
    ${object.detail ? html`<p class="small soft">${given(object.detail)}</p>` : nothing}
    <p class="small soft"><code>quarantine/${object.id}.dcm</code></p>
    ${may(around, 'run') ? actions(object) : nothing}
  </li>`;

  return {
    load: () => objects.load(),
    view: () =>
      objects.value?.length === 0 && objects.problem === null && problem === null
        ? nothing
        : html`<section aria-labelledby="quarantine">
            <h2 id="quarantine">Quarantined objects</h2>
            ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
            ${shown(
              objects,
              (all) => html`<p class="soft">
                  ${counted(all.length, 'received object')} could not be registered and so are not part of any study.
                  Inspect the files in the data folder of this machine with a DICOM tool.
                </p>
                <ul class="holds">
                  ${repeat(all, ({ id }) => id, row)}
                </ul>`,
            )}
          </section>`,
  };
}
