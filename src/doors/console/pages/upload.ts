import type { UploadOutcome } from '../contract.ts';
import { sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { Surroundings } from './page.ts';
import { counted } from './words.ts';

/**
 * Maximum number of bytes in one upload request. A study is sent in several requests, so that a
 * lost connection loses little.
 */
const CALL_BYTES = 64 * 1024 * 1024;

/**
 * Groups files so that each group has at most `most` bytes. A larger file is alone in its group.
 */
export function inCalls<One extends { size: number }>(
  files: readonly One[],
  most: number,
): One[][] {
  const calls: One[][] = [];
  let bytes = most;
  for (const file of files) {
    if (bytes + file.size > most) {
      calls.push([]);
      bytes = 0;
    }
    calls.at(-1)?.push(file);
    bytes += file.size;
  }
  return calls;
}

/** Returns the body of a store transaction (PS3.18 10.5, multipart/related). */
export function storeBody(files: readonly Blob[], boundary: string): Blob {
  const parts = files.flatMap((file) => [
    `--${boundary}\r\nContent-Type: application/dicom\r\n\r\n`,
    file,
    '\r\n',
  ]);
  return new Blob([...parts, `--${boundary}--\r\n`]);
}

/** Describes the combined outcome of several upload requests. */
export function outcomeText(outcomes: readonly UploadOutcome[]): string {
  const stored = outcomes.reduce((sum, outcome) => sum + outcome.stored, 0);
  const refused = new Map<string, number>();
  for (const { reason, objects } of outcomes.flatMap((outcome) => outcome.refused)) {
    refused.set(reason, (refused.get(reason) ?? 0) + objects);
  }
  const why = [...refused].map(
    ([reason, objects]) => `${counted(objects, 'file')} refused: ${reason}`,
  );
  return [`${counted(stored, 'image object')} received`, ...why].join('. ');
}

/**
 * Uploads files from this computer. The gateway receives them as if an ultrasound system had sent
 * them.
 */
export function createUpload({ api, redraw, say }: Pick<Surroundings, 'api' | 'redraw' | 'say'>) {
  let sent = 0;
  let total = 0;
  let text: string | null = null;
  let problem: string | null = null;

  async function send(files: readonly File[]): Promise<void> {
    if (files.length === 0 || total > 0) return;
    [sent, total, text, problem] = [0, files.length, null, null];
    redraw();
    const outcomes: UploadOutcome[] = [];
    try {
      for (const call of inCalls(files, CALL_BYTES)) {
        const boundary = `sonogate-${crypto.randomUUID()}`;
        outcomes.push(await api.upload(storeBody(call, boundary), boundary));
        sent += call.length;
        redraw();
      }
    } catch (error) {
      problem = sentence(error);
      say(problem, 'now');
    }
    total = 0;
    text = outcomes.length > 0 ? outcomeText(outcomes) : null;
    if (text) say(text);
    redraw();
  }

  const chosen = (event: Event) => {
    if (!(event.target instanceof HTMLInputElement)) return;
    void send([...(event.target.files ?? [])]);
    event.target.value = '';
  };

  return {
    send,
    view: (): TemplateResult => html`<div class="row upload">
      <label class="button">
        Upload a study
        <input class="hidden-text" type="file" multiple accept=".dcm,application/dicom,*/*" @change=${chosen} />
      </label>
      ${
        total > 0
          ? html`<progress max=${total} .value=${sent} aria-label="Upload"></progress>
              <span class="small soft">${sent} of ${counted(total, 'file')}</span>`
          : nothing
      }
      ${text ? html`<span class="small soft" role="status">${text}.</span>` : nothing}
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
    </div>`,
  };
}
