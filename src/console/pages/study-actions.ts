import type { StudyAction, StudyPage, WorklistRow } from '../contract.ts';
import type { Action } from './asking.ts';
import { html } from './html.ts';
import type { Surroundings } from './page.ts';

/** What is typed beside a question; kept while the page is drawn anew. */
export interface Typed {
  reason: string;
  rule: string;
}

const missing = (what: string): never => {
  throw new Error(`There is no ${what} to do this with.`);
};

/** What may be done with a study now; the server said which by role and state. */
export function studyActions(
  { row, study, actions }: StudyPage,
  { api }: Pick<Surroundings, 'api'>,
  typed: Typed,
  changed: (row: WorklistRow) => void,
): Action[] {
  const studyId = () => study?.id ?? missing('study');
  const requestId = () => row.requestId ?? missing('request');
  const done = (answer: WorklistRow, text: string) => {
    changed(answer);
    return text;
  };
  const all: Record<StudyAction, Omit<Action, 'id'>> = {
    acknowledge: {
      label: 'I have seen the flags',
      question: 'Write down that you have seen the critical flags?',
      run: async () =>
        done(await api.acknowledge(requestId()), 'Written down that you have seen the flags.'),
    },
    complete: {
      label: 'Complete now',
      question: 'No more images are coming: interpret what is there?',
      run: async () => done(await api.complete(studyId()), 'The study counts as complete.'),
    },
    rerun: {
      label: 'Run again',
      question: 'Interpret all images again? The new draft replaces the former.',
      run: async () => done(await api.rerun(studyId()), 'The study is interpreted again.'),
    },
    cancel: {
      label: 'Cancel',
      question: 'End the run? Nothing is sent.',
      confirm: 'End the run',
      danger: true,
      run: async () => done(await api.cancel(requestId()), 'The run is ended.'),
    },
    hold: {
      label: 'Hold',
      question: 'Hold the study until it is released, because',
      fields: html`<input
        aria-label="Reason"
        .value=${typed.reason}
        @input=${(event: Event) => {
          if (event.target instanceof HTMLInputElement) typed.reason = event.target.value;
        }}
      />`,
      run: async () =>
        done(await api.hold(studyId(), { reason: typed.reason.trim() }), 'The study is held.'),
    },
    release: {
      label: 'Release',
      question: 'Release the study to',
      fields: html`<select
        aria-label="Rule"
        @change=${(event: Event) => {
          if (event.target instanceof HTMLSelectElement) typed.rule = event.target.value;
        }}
      >
        <option value="">what the rules say</option>
        ${study?.releasableTo.map((rule) => html`<option value=${rule}>${rule}</option>`)}
      </select>`,
      run: async () =>
        done(await api.release(studyId(), { rule: typed.rule || null }), 'The study is released.'),
    },
  };
  return actions.map((action) => ({ id: action, ...all[action] }));
}
