import type { ReviewStep, ReviewView } from '../contract.ts';
import { focusOnce } from './asking.ts';
import { html, nothing, ref, type TemplateResult } from './html.ts';
import { lastChange, type Review } from './review.ts';
import { chip, counted, given, momentText, type Tone } from './words.ts';

type Part = TemplateResult | typeof nothing;

const DECISIONS = {
  accepted: { text: 'Accepted', tone: 'good' },
  edited: { text: 'Measured by the reader', tone: 'good' },
  entered: { text: 'Entered by the reader', tone: 'good' },
  rejected: { text: 'Rejected', tone: 'quiet' },
} as const satisfies Record<NonNullable<ReviewStep['decision']>, { text: string; tone: Tone }>;

/** Describes what a signature covers. */
function signedText(steps: readonly Pick<ReviewStep, 'decision' | 'quality'>[]): string {
  const count = (decision: ReviewStep['decision']) =>
    steps.filter((step) => step.decision === decision).length;
  const undecided = steps.filter(({ decision }) => decision === null);
  const proposed = undecided.filter(({ quality }) => quality !== 'accepted').length;
  const parts = [
    `${count('accepted')} accepted`,
    `${count('edited')} measured again`,
    `${count('entered')} typed`,
    `${count('rejected')} rejected`,
    `${undecided.length - proposed} measured by the AI and not reviewed individually`,
    `${proposed} not confirmed and therefore not used`,
  ];
  return parts.filter((part) => !part.startsWith('0 ')).join(', ');
}

/** Renders the review of a result: one value at a time, the changes, and the signature. */
export function reviewPanel(review: Review): Part {
  const { data, problem, step, typing } = review;
  const trouble = problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing;
  if (!data) return trouble;
  const decided = data.steps.filter(({ decision }) => decision !== null).length;
  return html`<section class="panel review" id="review" aria-labelledby="review-head">
    <header>
      <h2 id="review-head" tabindex="-1">Review</h2>
      <span class="small soft">${decided} of ${data.steps.length} decided</span>
      ${review.saving ? html`<span class="small soft">Saving…</span>` : nothing}
      <span class="row push">
        ${keyButton(arrow('‹', 'Previous value'), 'k', () => review.turn(-1))}
        ${keyButton(arrow('›', 'Next value'), 'j', () => review.turn(1))}
      </span>
    </header>
    ${othersHere(data.readers, review.person)} ${trouble}
    ${step ? stepView(review, step) : html`<p class="soft">There is no value to review.</p>`}
    ${typing === 'note' ? typingForm(review, 'Your own line for the impression', '') : nothing}
    ${namingView(review, data)} ${historyView(data)} ${signView(review, data)}
  </section>`;
}

function keyButton(
  text: string | TemplateResult,
  key: string,
  run: () => void,
  look = '',
): TemplateResult {
  return html`<button type="button" class=${look} aria-keyshortcuts=${key} @click=${run}>
    ${text} <kbd aria-hidden="true">${key === 'Escape' ? 'Esc' : key}</kbd>
  </button>`;
}

function arrow(sign: string, text: string): TemplateResult {
  return html`<span aria-hidden="true">${sign}</span><span class="hidden-text">${text}</span>`;
}

function othersHere(readers: readonly string[], person: string): Part {
  const others = readers.filter((reader) => reader !== person);
  if (others.length === 0) return nothing;
  return html`<p class="notice" role="status">
    ${given(others.join(', '))} ${others.length > 1 ? 'are' : 'is'} also reading this report.
  </p>`;
}

function stepView(review: Review, step: ReviewStep): TemplateResult {
  const decision = step.decision && DECISIONS[step.decision];
  const mark = decision
    ? chip(decision.tone, decision.text)
    : step.quality === 'accepted'
      ? nothing
      : chip('attention', 'To confirm');
  return html`<div class="step" aria-live="polite">
      <p class="small soft">${step.section} · ${review.place + 1} of ${review.steps.length}</p>
      <h3>${step.label}</h3>
      <p class="value"><strong>${step.text}</strong> ${step.unitText} ${mark}</p>
      ${step.original ? html`<p class="small soft">AI: ${step.original}</p>` : nothing}
    </div>
    ${review.editable ? decisionView(review, step) : nothing}`;
}

function decisionView(review: Review, step: ReviewStep): TemplateResult {
  const { image } = review;
  const elsewhere =
    step.draggable === 'calipers' && image?.file === step.file && image?.frame !== step.frame;
  const drag = review.dragging
    ? keyButton('Done', 'Escape', () => review.endDragging())
    : keyButton('Correct', 'e', () => review.startDragging());
  return html`<div class="row">
      ${keyButton('Accept', 'a', () => void review.decide('accept'), 'primary')}
      ${keyButton('Reject', 'x', () => void review.decide('reject'))}
      ${step.draggable ? drag : nothing}
      ${keyButton('Type', 'v', () => review.startTyping('value'))}
      ${
        elsewhere && image
          ? html`<button type="button" @click=${() => void review.useFrame(step, image.frame)}>Measure on frame ${image.frame}</button>`
          : nothing
      }
    </div>
    ${review.typing === 'value' ? typingForm(review, `Value of ${step.label}`, typedUnit(step)) : nothing}
    ${repeatsView(review, step)}`;
}

const typedUnit = ({ unit, unitText }: ReviewStep) => (unit === 'd' ? 'days' : unitText);

function typingForm(review: Review, label: string, unit: string): TemplateResult {
  const save = (event: Event) => {
    event.preventDefault();
    void review.saveTyped();
  };
  return html`<form class="row" @submit=${save}>
    <input
      aria-label=${label}
      inputmode=${review.typing === 'value' ? 'decimal' : 'text'}
      maxlength="500"
      .value=${review.typed}
      ${ref(focusOnce)}
      @input=${(event: Event) => {
        if (event.target instanceof HTMLInputElement) review.typed = event.target.value;
      }}
      @keydown=${(event: KeyboardEvent) => event.key === 'Escape' && review.stopTyping()}
    />
    ${unit ? html`<span class="soft">${unit}</span>` : nothing}
    <button type="submit" class="primary">Save</button>
  </form>`;
}

/** Renders further measurements of the same quantity. The reader may choose one of them instead. */
function repeatsView(review: Review, step: ReviewStep): Part {
  if (step.others.length === 0) return nothing;
  return html`<details>
    <summary>${counted(step.others.length, 'other measurement')} of this quantity</summary>
    <ul class="others">
      ${step.others.map(
        ({ id, text, file, frame }) => html`<li class="row">
          <span>${text}</span>
          ${
            file
              ? html`<button type="button" class="plain" aria-label=${`Show ${text}`} @click=${() => review.show(file, frame, id)}>Show</button>`
              : nothing
          }
          <button type="button" aria-label=${`Use ${text}`} @click=${() => void review.chooseRepeat(step, id)}>Use this one</button>
        </li>`,
      )}
    </ul>
  </details>`;
}

/** Renders the name of what the open image shows, and lets the reader choose another name. */
function namingView(review: Review, { names }: ReviewView): Part {
  const { image, step } = review;
  // A value that was not measured on an image, such as the body surface area, has no image to name.
  const isOfImage = step === null || step.file !== null;
  if (!image || !isOfImage || !review.editable || names.options.length === 0) return nothing;
  const named = names.given.find(
    ({ file, frame }) => file === image.file && (frame === null || frame === image.frame),
  );
  const change = ({ target }: Event) => {
    if (target instanceof HTMLSelectElement && target.value) void review.nameImage(target.value);
  };
  return html`<label class="row naming">
    <span>This image shows</span>
    <select @change=${change}>
      ${named ? nothing : html`<option value="" selected>${image.view ?? 'nothing recognised'}</option>`}
      ${names.options.map(
        ({ value, text }) =>
          html`<option value=${value} ?selected=${value === named?.value}>${text}</option>`,
      )}
    </select>
  </label>`;
}

function historyView({ changes }: ReviewView): Part {
  if (changes.length === 0) return nothing;
  return html`<details>
    <summary>${counted(changes.length, 'change')}</summary>
    <ol class="history small">
      ${changes.toReversed().map(
        ({ at, author, text, undone }) => html`<li>
          ${undone ? html`<s>${given(text)}</s> <span class="soft">undone</span>` : given(text)}
          <span class="soft">${given(author)}, ${momentText(at)}</span>
        </li>`,
      )}
    </ol>
  </details>`;
}

function signView(review: Review, data: ReviewView): TemplateResult {
  const { signatures, signaturesNeeded } = data;
  const isOpen = !review.isSigned;
  return html`<div class="sign">
    ${signatures.length > 0 ? html`<ul>${signatures.map(signatureView)}</ul>` : nothing}
    ${signaturesNeeded > 1 && isOpen ? html`<p class="small soft">${signatures.length} of ${signaturesNeeded} signatures</p>` : nothing}
    ${review.amending ? html`<p class="small soft">Change a value or add a line, then sign again.</p>` : nothing}
    <div class="row">
      ${isOpen ? signing(review, data) : amending(review, data)}
      ${
        review.editable
          ? html`<span class="row push">
              ${keyButton('Add a line', 'l', () => review.startTyping('note'))}
              ${lastChange(data.changes) ? keyButton('Undo', 'z', () => void review.undo()) : nothing}
            </span>`
          : nothing
      }
    </div>
  </div>`;
}

const signatureView = ({ observer, at }: ReviewView['signatures'][number]): TemplateResult =>
  html`<li>${chip('good', 'Signed')} ${given(observer)}, ${momentText(at)}</li>`;

function signing(review: Review, { may, steps, result, etag }: ReviewView): TemplateResult {
  if (!may.sign) return html`<p class="small soft">Your role is not permitted to sign.</p>`;
  const lines = counted(result.impression.length, 'line');
  return html`<span class="signing">${review.asking.view({
    id: 'sign',
    label: 'Sign',
    question: `Sign as ${review.person}: ${signedText(steps)}. The impression has ${lines}.`,
    confirm: 'Sign this report',
    fields: html`<input
      aria-label="Statement (optional)"
      placeholder="Statement (optional)"
      .value=${review.statement}
      @input=${(event: Event) => {
        if (event.target instanceof HTMLInputElement) review.statement = event.target.value;
      }}
    />`,
    run: () => review.sign(etag),
  })}</span>`;
}

function amending(review: Review, { may }: ReviewView): Part {
  if (!may.edit) return nothing;
  return review.amending
    ? html`<button type="button" @click=${() => review.leaveAsSigned()}>Leave as signed</button>`
    : html`<button type="button" @click=${() => review.amend()}>Amend</button>`;
}
