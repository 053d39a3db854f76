// Given and family names of many cultures, for the people of the demo data.

export interface Culture {
  readonly given: readonly string[];
  readonly family: readonly string[];
}

const culture = (given: string, family: string): Culture => ({
  given: given.split(' '),
  // A family name of several words is written with underscores.
  family: family.split(' ').map((name) => name.replaceAll('_', ' ')),
});

export const CULTURES = {
  english: culture(
    'Abigail Alice Andrew Beth Callum Charlotte Daniel Edward Eleanor Emily George Grace Hannah Harry Helen Jack James Joanna Kate Laura Lewis Lucy Martin Matthew Megan Oliver Owen Paul Rachel Rebecca Robert Ruth Samuel Simon Sophie Thomas Victoria William',
    "Ashdown Atwood Barlow Beaumont Birchall Bramwell Carlisle Carver Clayton Cresswell Dalton Ellery Fairfax Farrow Garside Goodwin Halloway Harding Hartley Holt Kendrick Langdon Marlow Mercer Norwood Oakley Pemberton Prescott Radley Rowe Selby Shaw Thornton Underwood Wakefield Whitmore Winslow O'Dell Lloyd-Price",
  ),
  irish: culture(
    'Aoife Brendan Caoimhe Ciarán Conor Deirdre Eoin Fionnuala Gráinne Liam Niamh Oisín Orla Róisín Seán Siobhán',
    "Brannigan Brady Cullinane Devlin Fallon Fitzgerald Flynn Gallagher Keane Kilbride MacNamara Mulcahy O'Brien O'Rourke Quinlan Tierney",
  ),
  german: culture(
    'Andreas Anja Birgit Bernd Claudia Dieter Eva Florian Franziska Greta Heike Holger Jens Jörg Jürgen Katrin Klaus Lena Lukas Matthias Nina Sabine Sebastian Silke Stefan Ulrike Uwe Wiebke',
    'Albrecht Bachmann Brückner Dietrich Eberhardt Fassbender Gärtner Grünewald Hartwig Jäger Kessler Köhler Lindemann Möller Neuhaus Oppermann Pfeiffer Reinhardt Sauer Schäfer Schröder Strauß Vogel Weißmann Wendt Zimmermann',
  ),
  french: culture(
    'Adèle Amélie Antoine Baptiste Bérénice Camille Céline Clément Élodie Étienne François Gaëlle Guillaume Hélène Jérôme Julien Laurent Léa Manon Mathilde Noémie Océane Pascal Rémi Sylvie Théo Zoé',
    'Arnaud Beaulieu Bouchard Carpentier Chevalier Delacroix Desrosiers Dubreuil Fontaine Garnier Girard Lacombe Lefèvre Lemaître Marchand Montfort Perrault Renaudin Rousselle Sauvage Tessier Vasseur Villeneuve de_La_Tour',
  ),
  nordic: culture(
    'Anders Astrid Bjørn Einar Elin Freja Gunnar Håkan Ida Ingrid Jonas Karin Lars Linnéa Magnus Maja Mikkel Nils Oskar Petter Ragnhild Rikke Sigrid Signe Søren Tove Ulf Åsa',
    'Ahlgren Andersen Bakke Berglund Bjerregaard Dahlström Ekström Engström Fredriksen Grønlund Hagen Haugland Holmgren Håkansson Iversen Johansson Kjær Lindqvist Lundgaard Nygård Nyström Øvergård Rasmussen Sandvik Solberg Strand Wikström',
  ),
  finnish: culture(
    'Aino Antti Eero Eija Elina Hannu Heli Ilkka Jukka Kaisa Kalle Kirsi Lauri Mika Outi Päivi Pekka Sanna Tuomas Veera',
    'Aaltonen Hämäläinen Heikkinen Järvinen Kallio Karjalainen Koskela Laaksonen Lehtonen Mäkelä Nieminen Niskanen Pärssinen Rantala Saarinen Salmi Toivonen Virtanen',
  ),
  dutch: culture(
    'Anouk Bart Bram Daan Eline Femke Floor Geert Hanneke Jeroen Joost Lieke Maarten Marieke Niels Pieter Sander Saskia Thijs Wouter',
    'Bakker Bosman de_Graaf de_Wit Dekker Hoekstra Jansen Kuipers Mulder Postma Schouten Smit van_Dijk van_den_Berg van_der_Linden Verhoeven Vermeer Zijlstra',
  ),
  spanish: culture(
    'Alejandra Álvaro Beatriz Begoña Carlos Carmen Cristina Diego Elena Fernando Gabriela Ignacio Inés Javier Jimena Joaquín José Lucía Marisol Mateo Natalia Pablo Paloma Ramón Rocío Sofía Tomás Ximena',
    'Aguirre Álvarez Benítez Castaño Cervantes Delgado Escobar Figueroa Fuentes García_Luna Gutiérrez Herrera Ibáñez Jiménez Lozano Márquez Molina Muñoz Núñez Ortega Peña Quintana Ríos Salazar Sepúlveda Valdés Vargas Zamora',
  ),
  italian: culture(
    'Alessandro Beatrice Bianca Chiara Davide Elisabetta Enrico Federica Francesco Giada Giovanni Giulia Lorenzo Luca Matteo Michela Nicolò Paola Raffaele Silvia Stefano Valentina',
    "Bellini Bianchi Caputo Colombo Conti D'Amico De_Santis Esposito Ferrara Gallo Lombardi Marchetti Moretti Pellegrini Ricci Romano Rinaldi Santoro Vitale Zanetti",
  ),
  portuguese: culture(
    'Afonso Ana António Beatriz Bruno Caetano Catarina Duarte Fábio Fernanda Filipa Gonçalo Inês João Leonor Luísa Mariana Miguel Rafael Rui Tatiana Thiago Vitória',
    'Almeida Azevedo Barbosa Cardoso Carvalho Conceição Correia da_Costa dos_Santos Ferreira Figueiredo Gonçalves Lourenço Magalhães Monteiro Nogueira Pacheco Ribeiro Simões Teixeira',
  ),
  polish: culture(
    'Agnieszka Andrzej Barbara Bogdan Dorota Elżbieta Grzegorz Jakub Joanna Katarzyna Krzysztof Łukasz Małgorzata Marek Paweł Piotr Stanisław Tomasz Wojciech Zofia',
    'Adamczyk Borkowski Dąbrowski Gajewski Głowacki Jabłoński Kaczmarek Krawczyk Lewicki Malinowski Nowicki Olszewski Pawlak Rutkowski Sikora Szymański Wiśniewski Wójcik Zając Żurek',
  ),
  czech: culture(
    'Adéla Barbora Dalibor Eliška František Hana Ivana Jana Jiří Kateřina Lenka Lukáš Markéta Ondřej Pavel Šimon Tereza Václav Vojtěch Zdeněk',
    'Beneš Černý Dvořák Fiala Havlík Holub Horák Jelínek Kolář Kratochvíl Novotný Pokorný Růžička Říha Sedláček Šimek Urban Vaněk Veselý Zeman',
  ),
  turkish: culture(
    'Ahmet Ayşe Barış Cem Çağla Defne Deniz Elif Emre Fatma Gökhan Hakan İpek Kemal Leyla Mehmet Nur Onur Selin Şule Tuğba Yusuf',
    'Acar Aksoy Arslan Aydın Çelik Demir Doğan Erdoğmuş Güneş Kaplan Karaca Koç Korkmaz Öztürk Şahin Şimşek Tekin Uçar Yıldız Yılmaz',
  ),
  arabic: culture(
    'Adel Amina Bilal Dalia Farah Faisal Hala Hassan Ibrahim Jamila Karim Khalid Layla Mariam Nadia Omar Rania Salma Samir Tariq Yasmin Zain',
    'Abadi Al-Amin Al-Farsi Al-Masri Aziz Barakat Darwish Fakhoury Haddad Hakimi Ismail Jabari Kassab Mansour Nassar Qureshi Rahman Saleh Shadid Zaman',
  ),
  indian: culture(
    'Aarav Aditi Ananya Arjun Deepa Divya Farhan Gauri Harish Ishaan Kavita Lakshmi Manish Meera Nikhil Nisha Pooja Pranav Priya Rahul Ritu Rohan Sanjay Shreya Sunil Swati Tanvi Vikram',
    'Acharya Banerjee Bhatt Chandra Chatterjee Desai Deshpande Dutta Gupta Iyer Joshi Kapoor Krishnan Kulkarni Mehta Menon Mukherjee Nair Pillai Rao Reddy Sengupta Shah Sharma Subramanian Varma',
  ),
  chinese: culture(
    'Bo Chen Fang Hao Hui Jian Jing Jun Lan Lei Li Mei Min Ning Ping Qiang Rui Shan Tao Wei Xin Yan Yifan Ying Yu Zhen',
    'Cao Chang Deng Fan Feng Gao Guo Han He Huang Lin Liu Luo Ma Pan Peng Shen Song Sun Tang Wang Wu Xie Xu Yang Zhang Zhao Zhou',
  ),
  japanese: culture(
    'Aiko Akira Asuka Daichi Emi Haruka Haruto Hiroshi Kaori Kenji Mai Makoto Megumi Naoki Noriko Ren Rina Satoshi Shun Sota Takumi Yoko Yui Yuto',
    'Aoki Fujimoto Hasegawa Hayashi Inoue Ishikawa Kimura Kobayashi Kondo Matsuda Mori Nakamura Nishimura Ogawa Okada Saito Sakamoto Shimizu Takahashi Tanaka Ueda Watanabe Yamashita Yoshida',
  ),
  korean: culture(
    'Eun-ji Haneul Hye-jin Hyun-woo Ji-ho Ji-woo Jin-a Joon-ho Mi-rae Min-jun Min-seo Sang-min Seo-yeon Seung-hyun Soo-jin Sung-ho Yoon-ah Young-mi',
    'Ahn Bae Baek Choi Han Hong Hwang Im Jang Jeon Jung Kang Kim Kwon Lee Moon Noh Park Ryu Seo Shin Yoon',
  ),
  nigerian: culture(
    'Abiola Adaeze Adebayo Amaka Bolanle Chidi Chinedu Chioma Emeka Folake Funmilayo Ifeoma Ikenna Kelechi Ngozi Obinna Olumide Segun Temitope Tunde Uche Yetunde',
    'Abubakar Achebe Adeleke Adeyemi Afolabi Akande Balogun Chukwu Danjuma Eze Ibekwe Igwe Nwosu Obi Ogunleye Okafor Okonkwo Okoro Oladipo Onyekachi Sanni Uzoma',
  ),
  kenyan: culture(
    'Achieng Akinyi Amina Baraka Brian Cynthia Faith Imani Joy Juma Kamau Kevin Makena Mercy Muthoni Mwangi Njeri Otieno Wambui Wanjiru Zawadi',
    'Barasa Cheruiyot Gathoni Kariuki Karanja Kibet Kimani Kiprop Koech Maina Makori Mutua Mwende Ndungu Njoroge Ochieng Odhiambo Omondi Rotich Wafula',
  ),
  southern_african: culture(
    'Anele Ayanda Bongani Busisiwe Johan Khanyi Lerato Lindiwe Lwazi Nandi Naledi Pieter Sibusiso Sipho Tebogo Thabo Thandeka Themba Zanele',
    'Botha Dlamini du_Plessis Khumalo Mabaso Mahlangu Maseko Mbatha Mokoena Molefe Naidoo Ndlovu Nkosi Pretorius Sithole van_Wyk Zulu Zungu',
  ),
} as const satisfies Record<string, Culture>;

export type CultureName = keyof typeof CULTURES;

const LETTERS: Record<string, string> = { ß: 'ss', ø: 'o', ł: 'l', ı: 'i', æ: 'ae', đ: 'd' };

/** Plain lower-case ASCII words of a text, for emails and domains: `['joao', 'conceicao']`. */
export function asciiWords(text: string): string[] {
  const plain = text
    .toLowerCase()
    .replace(/[ßøłıæđ]/g, (letter) => LETTERS[letter] ?? '')
    .normalize('NFD')
    .replace(/[\u0300-\u036f'’]/g, '');
  return plain.split(/[^a-z0-9]+/).filter((word) => word !== '');
}
