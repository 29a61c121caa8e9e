/** Introduction to the API description; further guides are in `/docs`. */
export const INTRODUCTION = `Sonogate reads an ultrasound study and returns a structured draft result. Interpretation is
asynchronous: upload files, submit them, follow the request, fetch the result. Bodies are JSON, times are RFC 3339 in UTC,
and unknown fields are refused. Every result is a draft until a clinician signs it.

Send a key as \`Authorization: Bearer sg_live_…\`. A key belongs to an account and has scopes: \`run\`, \`read\`, \`uploads\`,
\`store\` and \`retrieve\` (DICOMweb), \`review\` (change a draft), \`sign\` (sign it under the name of the key) and
\`admin\`, which includes every other scope but \`sign\`. With a test key (\`sg_test_…\`) every request gives a made-up
result that is marked MOCK and costs nothing.`;

/** The groups of calls, in the order in which a reader needs them. */
export const GROUPS = [
  {
    name: 'Requests',
    description: 'Submit studies, follow them, and fetch what was found.',
  },
  { name: 'Uploads', description: 'Send files, in parts where they are large.' },
  { name: 'Models', description: 'What can be run, at which price, and this description.' },
  { name: 'Webhooks', description: 'Be called when a request ends or a critical flag is raised.' },
  { name: 'Account', description: 'Keys and usage of the account.' },
  {
    name: 'DICOMweb',
    description: `Store studies by STOW-RS. Search and retrieval (QIDO-RS and WADO-RS) are below \`/dicomweb\` as well
where the site has switched them on (\`queryRetrieve.dicomweb\`), for keys with the scope \`retrieve\`. They are not listed
here: DICOM PS3.18 defines them, with any attribute as a parameter and with DICOM objects as answers, and every DICOMweb
client knows them. The documentation of the gateway names what is served (docs/dicomweb.md). The same holds for requests as
Unified Procedure Steps (UPS-RS, \`http.workitems\`, docs/ups.md).`,
  },
  {
    name: 'Compatible queue',
    description: 'The same requests for programs that use the client of fal.ai.',
  },
] as const;
