import { writeFileSync } from 'node:fs';
import { requiredCapabilities } from '../../../fhir/client/required-capabilities.ts';
import { catalogueEntry, ERRORS, type ErrorCode } from '../../platform/errors/catalogue.ts';
import { LOG_EVENTS } from '../../platform/logging/events/catalogue.ts';
import type { LogEvent } from '../../platform/logging/events/event.ts';

export const ERRORS_PAGE = new URL('../../../docs/errors.md', import.meta.url);
export const LOG_EVENTS_PAGE = new URL('../../../docs/log-events.md', import.meta.url);
const STATEMENT_PAGE = new URL('../../../docs/fhir-capability-statement.json', import.meta.url);

/** `docs/errors.md`: the error catalogue as a page. */
export function renderErrorsPage(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return `# Errors

Every error of the gateway by its stable code. This page is generated from
\`src/platform/errors/catalogue.ts\` by \`npm run docs\`; do not edit it by hand.

HTTP answers carry the code in \`code\` of an \`application/problem+json\` body (RFC 9457). Retry says
what the same call or delivery is worth a second time: *transient* may work later, *ambiguous* may
already have worked, *permanent* needs a person.

${codes.map(renderEntry).join('\n')}`;
}

/** `docs/log-events.md`: what stands in the log, and what to do about it. */
export function renderLogEventsPage(): string {
  const rows = Object.entries<LogEvent>(LOG_EVENTS)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, { level, text, meaning, action }]) =>
      ['', `\`${id}\``, level, text, meaning, action ?? '–', ''].join(' | ').trim(),
    );
  return `# Log events

The log is one JSON object a line on standard error. A line that an operator may act on has the
stable id of its event in \`event\`; alert on that, not on the text. This page is generated from
\`src/platform/logging/events/\` by \`npm run docs\`; do not edit it by hand.

One study is followed by these fields: \`association\` (a DICOM association), \`study\` (our id of it;
\`association_studies\` joins the two), \`request\` (what it became, and \`request_id\` for one HTTP call),
\`delivery\` (one object to one destination). No line holds the identity of a patient.

| event | level | text | what it means | what to do |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

/** Writes the generated pages. */
export function writeDocs(): void {
  writeFileSync(ERRORS_PAGE, renderErrorsPage());
  writeFileSync(LOG_EVENTS_PAGE, renderLogEventsPage());
  writeFileSync(STATEMENT_PAGE, `${JSON.stringify(requiredCapabilities(), null, 2)}\n`);
}

function renderEntry(code: ErrorCode): string {
  const { title, http, dimse, retry, operator } = catalogueEntry(code);
  const facts = [
    http === undefined ? null : `HTTP ${http}`,
    dimse === undefined ? null : `DIMSE ${dimse}`,
    retry,
  ].filter((fact) => fact !== null);
  return `## ${code}

${title} (${facts.join(', ')})

${operator}
`;
}
