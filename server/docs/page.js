// The page at /docs: Swagger UI on the service's own description, beside a list of what is in it.

const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', darkScheme.matches);
followScheme();
darkScheme.addEventListener('change', followScheme);

show();

async function show() {
  const response = await fetch('/docs/json');
  const spec = await response.json();
  listContents(spec);
  globalThis.SwaggerUIBundle({
    dom_id: '#docs',
    spec,
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    persistAuthorization: false,
    validatorUrl: null,
  });
}

function listContents({ info, tags }) {
  const headings = [...info.description.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  const names = tags.map(({ name }) => name);
  const isOld = (name) => name.startsWith('v1 ');
  document.querySelector('nav').prepend(
    ...list('Guide', headings, findHeading),
    ...list(
      'Version 2',
      names.filter((name) => !isOld(name)),
      findTag,
    ),
    ...list('Version 1', names.filter(isOld), findTag),
  );
}

function list(title, names, find) {
  const heading = document.createElement('h2');
  heading.textContent = title;
  const items = document.createElement('ul');
  items.append(...names.map((name) => entry(name, find)));
  return [heading, items];
}

// Swagger UI makes the sections after this list, so each is looked for when it is wanted.
function entry(name, find) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = name.replace(/^v1 /, '');
  button.addEventListener('click', () => find(name)?.scrollIntoView());
  item.append(button);
  return item;
}

function findHeading(name) {
  const headings = document.querySelectorAll('.info .markdown h2, .info .renderedMarkdown h2');
  return [...headings].find((heading) => heading.textContent === name);
}

function findTag(name) {
  return document.querySelector(`.opblock-tag[data-tag="${name}"]`);
}
