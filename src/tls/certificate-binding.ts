import type { X509Certificate } from 'node:crypto';
import type { CertificateBinding } from '../../config/tls-schema.ts';

/** Whether a certificate, checked by its authority, is the one that stands for its holder. */
export function isBoundTo(
  { subject, san, fingerprint256 }: CertificateBinding,
  certificate: X509Certificate,
): boolean {
  return (
    (subject === undefined || hasSubject(subject, certificate)) &&
    (san === undefined || san.some((name) => hasAlternativeName(name, certificate))) &&
    (fingerprint256 === undefined ||
      fingerprint256.some((each) => hex(each) === hex(certificate.fingerprint256)))
  );
}

function hasSubject(wanted: Readonly<Record<string, string>>, { subject }: X509Certificate) {
  // One attribute a line: `CN=voluson-3`.
  const attributes = new Set(subject?.split('\n'));
  return Object.entries(wanted).every(([name, value]) => attributes.has(`${name}=${value}`));
}

/** The names themselves are compared: a wildcard in a certificate stands for no one device. */
function hasAlternativeName(name: string, { subjectAltName = '' }: X509Certificate): boolean {
  // Node quotes a name that holds a comma; none that stands for a machine does.
  if (subjectAltName.includes('"')) return false;
  const wanted = name.toLowerCase();
  return subjectAltName
    .split(', ')
    .map((each) => each.replace(/^(DNS|IP Address|URI):/, '').toLowerCase())
    .includes(wanted);
}

function hex(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}
