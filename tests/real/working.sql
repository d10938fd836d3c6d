-- SPDX-License-Identifier: Apache-2.0
DROP TABLE IF EXISTS item;
DROP TABLE IF EXISTS owner;
CREATE TABLE owner (id INT PRIMARY KEY, name VARCHAR(40), city VARCHAR(20));
CREATE TABLE item (id INT PRIMARY KEY, owner_id INT, price DECIMAL(12, 2), note VARCHAR(80));
INSERT INTO owner SELECT x, 'owner ' || x, 'city ' || MOD(x, 37) FROM SYSTEM_RANGE(1, 2000);
INSERT INTO item SELECT x, MOD(x * 7919, 2000) + 1, MOD(x * 31, 9973) / 7.0,
  'note ' || RAWTOHEX(CAST(x AS VARCHAR)) FROM SYSTEM_RANGE(1, 40000);
CREATE INDEX item_owner ON item (owner_id);
SELECT city, COUNT(*), SUM(price), AVG(price) FROM item JOIN owner ON owner.id = owner_id
  GROUP BY city ORDER BY 3 DESC;
SELECT COUNT(*) FROM item WHERE REGEXP_LIKE(note, 'note (3[0-9])+$');
SELECT name, (SELECT MAX(price) FROM item WHERE owner_id = owner.id) AS best FROM owner
  ORDER BY best DESC LIMIT 20;
WITH RECURSIVE tree(n, depth) AS (
  SELECT 1, 0 UNION ALL SELECT n + depth, depth + 1 FROM tree WHERE depth < 3000)
  SELECT MAX(n) FROM tree;
SELECT id, price, RANK() OVER (PARTITION BY MOD(owner_id, 50) ORDER BY price) FROM item
  WHERE price > 1000 ORDER BY 3, 2 LIMIT 100;
UPDATE item SET price = price * 1.01, note = UPPER(note) WHERE MOD(id, 3) = 0;
DELETE FROM item WHERE MOD(id, 5) = 0;
SELECT COUNT(DISTINCT note), COUNT(DISTINCT price) FROM item;
