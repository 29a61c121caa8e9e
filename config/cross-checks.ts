import type { z } from 'zod';
import type { Config } from './schema.ts';

type Context = z.RefinementCtx<Config>;
type Path = (string | number)[];

/** What one setting names, another must have: destinations, archives, authorities. */
export function checkReferences(config: Config, context: Context): void {
  checkNames(config, context);
  checkRules(config, context);
  checkCertificates(config, context);
  checkArchives(config, context);
  checkAlternates(config, context);
}

const complain = (context: Context, path: Path, message: string): void =>
  context.addIssue({ code: 'custom', path, message });

/** @param none what is said where nothing could be named. */
const notAllowed = (found: string, allowed: readonly string[], none: string): string =>
  `found "${found}"; allowed: ${allowed.join(', ') || none}`;

const pacsNames = ({ destinations }: Config): string[] =>
  destinations.filter(({ type }) => type !== 'fhir').map(({ name }) => name);

function checkNames({ destinations }: Config, context: Context): void {
  const seen = new Set<string>();
  destinations.forEach(({ name }, d) => {
    if (seen.has(name)) {
      const message = `found "${name}" twice; every destination needs a name of its own`;
      complain(context, ['destinations', d, 'name'], message);
    }
    seen.add(name);
  });
}

function checkRules(config: Config, context: Context): void {
  const known = [...new Set(config.destinations.map(({ name }) => name))];
  const lists = [
    ['deliverTo', known],
    ['forwardTo', pacsNames(config)],
  ] as const;
  config.routing.rules.forEach((rule, r) => {
    for (const [list, allowed] of lists) {
      rule[list].forEach((destination, d) => {
        if (allowed.includes(destination)) return;
        const message = notAllowed(destination, allowed, 'no destination is configured');
        complain(context, ['routing', 'rules', r, list, d], message);
      });
    }
  });
}

function checkCertificates({ sources, dicom }: Config, context: Context): void {
  const { caFile, clientCertificate } = dicom.tls ?? {};
  if (caFile !== undefined && clientCertificate !== 'none') return;
  sources.forEach(({ certificate }, s) => {
    if (!certificate) return;
    const message = 'needs dicom.tls with the authority of the certificates: caFile';
    complain(context, ['sources', s, 'certificate'], message);
  });
}

function checkArchives({ archives, sources, routing }: Config, context: Context): void {
  const known = archives.map(({ name }) => name);
  const requireArchive = (archive: string, path: Path) => {
    if (known.includes(archive)) return;
    complain(context, path, notAllowed(archive, known, 'no archive is configured'));
  };
  sources.forEach(({ completion: { expectedCount } }, s) => {
    if (!expectedCount) return;
    requireArchive(expectedCount.archive, ['sources', s, 'completion', 'expectedCount', 'archive']);
  });
  routing.rules.forEach(({ priors }, r) => {
    priors?.from.forEach((archive, a) => {
      requireArchive(archive, ['routing', 'rules', r, 'priors', 'from', a]);
    });
  });
}

function checkAlternates(config: Config, context: Context): void {
  const pacs = pacsNames(config);
  config.destinations.forEach((destination, d) => {
    if (destination.type === 'fhir' || destination.alternate === undefined) return;
    const others = pacs.filter((each) => each !== destination.name);
    if (others.includes(destination.alternate)) return;
    const message = notAllowed(destination.alternate, others, 'there is no other PACS');
    complain(context, ['destinations', d, 'alternate'], message);
  });
}
