import { ProblemError } from './api.ts';
import { html, nothing, ref, type TemplateResult } from './html.ts';
import type { Surroundings } from './page.ts';

/** A change that a person can make with a button, after confirming it. */
export interface Action {
  /** Unique on the page. */
  id: string;
  label: string;
  /** The question next to the confirming button; it describes the effect. */
  question: string;
  /** Text on the confirming button; `label` by default. */
  confirm?: string;
  danger?: boolean;
  fields?: unknown;
  /** Performs the action and resolves to the text to announce. */
  run(): Promise<string>;
}

/** Describes a thrown error in a sentence for the user. */
export function sentence(error: unknown): string {
  if (!(error instanceof ProblemError)) {
    if (error instanceof TypeError) return 'The gateway cannot be reached.';
    return error instanceof Error ? error.message : String(error);
  }
  const { detail, title, errors } = error.problem;
  const said = detail || title;
  // If there is only one error, the detail often contains its text, which is then not repeated.
  const found = (errors ?? []).filter((one) => !said.includes(one.detail));
  return [said, ...found.map((one) => `${one.pointer} ${one.detail}`.trim())].join(' ');
}

export interface Asking {
  /** Renders the button or, once it has been pressed, the question in its place. */
  view(action: Action): TemplateResult;
  /** Closes the question of this action without performing it. Returns true if it was open. */
  close(id: string): boolean;
}

/** Creates buttons that ask for confirmation in place; only one question is open at a time. */
export function createAsking({ redraw, say }: Pick<Surroundings, 'redraw' | 'say'>): Asking {
  let asked: string | null = null;
  let running: string | null = null;
  let failed: { id: string; text: string } | null = null;

  function ask(id: string | null): void {
    const closed = id === null ? asked : null;
    asked = id;
    failed = null;
    redraw();
    if (closed !== null) returnFocus(closed);
  }

  async function act(action: Action): Promise<void> {
    running = action.id;
    failed = null;
    redraw();
    try {
      say(await action.run());
      if (asked === action.id) asked = null;
    } catch (error) {
      failed = { id: action.id, text: sentence(error) };
      say(failed.text, 'now');
    }
    running = null;
    redraw();
    if (!failed) returnFocus(action.id);
  }

  function question(action: Action): TemplateResult {
    const busy = running === action.id;
    return html`<span
      class="confirm"
      role="group"
      aria-label=${action.question}
      @keydown=${(event: KeyboardEvent) => event.key === 'Escape' && ask(null)}
    >
      <span>${action.question}</span>
      ${action.fields ?? nothing}
      <button
        type="button"
        class=${action.danger ? 'danger' : 'primary'}
        ?disabled=${busy}
        ${ref(focusOnce)}
        @click=${() => void act(action)}
      >
        ${busy ? 'Working…' : (action.confirm ?? action.label)}
      </button>
      <button type="button" class="plain" ?disabled=${busy} @click=${() => ask(null)}>Cancel</button>
    </span>`;
  }

  return {
    view(action) {
      const problem =
        failed?.id === action.id ? html`<span class="problem">${failed.text}</span>` : nothing;
      if (asked === action.id) return html`${question(action)}${problem}`;
      return html`<button
        type="button"
        class=${action.danger ? 'danger' : ''}
        data-asks=${action.id}
        @click=${() => ask(action.id)}
      >
        ${action.label}
      </button>`;
    },
    close(id) {
      const isOpen = asked === id && running !== id;
      if (isOpen) ask(null);
      return isOpen;
    },
  };
}

/**
 * Focuses the button whose question has closed or, if the button is no longer there, the page's
 * heading.
 */
function returnFocus(id: string): void {
  keepFocus(() => {
    const buttons = [...document.querySelectorAll<HTMLElement>('[data-asks]')];
    return buttons.find(({ dataset }) => dataset.asks === id);
  });
}

/**
 * If the focused element has disappeared, moves the focus to the element that `find` returns,
 * otherwise to the page's heading. Must be called after `redraw`: the focus moves in the next
 * frame, once the page has been redrawn.
 */
export function keepFocus(find: () => HTMLElement | null | undefined): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const next = find() ?? document.querySelector<HTMLElement>('main h1');
    next?.focus({ preventScroll: true });
  });
}

/**
 * Focuses the element once, when it appears. The library calls this function before the element is
 * part of the document, so the focus is set a moment later.
 */
export function focusOnce(element: Element | undefined): void {
  if (!(element instanceof HTMLElement) || element.dataset.focused) return;
  element.dataset.focused = 'yes';
  queueMicrotask(() => {
    element.focus();
    if (element instanceof HTMLInputElement) element.select();
  });
}
