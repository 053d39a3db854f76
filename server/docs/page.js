// The page at /docs: Swagger UI on the service's own description, beside a list of what is in it.

const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', darkScheme.matches);
followScheme();
darkScheme.addEventListener('change', followScheme);

show();

async function show() {
  const main = document.querySelector('main');
  const response = await fetch('/docs/json');
  const spec = await response.json();
  globalThis.SwaggerUIBundle({
    domNode: main,
    spec,
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    persistAuthorization: false,
    validatorUrl: null,
    onComplete: () => fillContents(main),
  });
}

function fillContents(main) {
  const sections = [...main.querySelectorAll('.info h2:not(.title), .opblock-tag')];
  const groups = { Guide: [], 'Version 2': [], 'Version 1': [] };
  for (const section of sections) {
    const name = section.dataset.tag ?? section.textContent;
    const group =
      section.dataset.tag === undefined ? 'Guide' : name.startsWith('v1 ') ? 'Version 1' : 'Version 2';
    groups[group].push(link(name.replace(/^v1 /, ''), section));
  }
  const lists = Object.entries(groups).map(([title, links]) => {
    const list = document.createElement('ul');
    list.append(...links);
    const heading = document.createElement('h2');
    heading.textContent = title;
    return [heading, list];
  });
  document.querySelector('nav').replaceChildren(...lists.flat());
}

function link(name, section) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = name;
  button.addEventListener('click', () => section.scrollIntoView({ block: 'start' }));
  item.append(button);
  return item;
}
