import { writeFileSync } from 'node:fs';
import { requiredCapabilities } from '../../fhir/client-capabilities.ts';
import { catalogueEntry, ERRORS, type ErrorCode } from '../errors/catalogue.ts';

export const ERRORS_PAGE = new URL('../../docs/errors.md', import.meta.url);
const STATEMENT_PAGE = new URL('../../docs/fhir-capability-statement.json', import.meta.url);

/** `docs/errors.md`: the error catalogue as a page. */
export function renderErrorsPage(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return `# Errors

Every error of the gateway by its stable code. This page is generated from
\`src/errors/catalogue.ts\` by \`npm run docs\`; do not edit it by hand.

HTTP answers carry the code in \`code\` of an \`application/problem+json\` body (RFC 9457). Retry says
what the same call or delivery is worth a second time: *transient* may work later, *ambiguous* may
already have worked, *permanent* needs a person.

${codes.map(renderEntry).join('\n')}`;
}

/** Writes the generated pages. */
export function writeDocs(): void {
  writeFileSync(ERRORS_PAGE, renderErrorsPage());
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
